//! Headers on the command line.

use clap::Args;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::verdict::Failure;

/// Headers that are added to a request.
#[derive(Args, Debug)]
pub(crate) struct Headers {
    /// Add a header; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
}

impl Headers {
    /// Returns the headers. Errors do not show values, which may be secret.
    pub(crate) fn map(&self) -> Result<HeaderMap, Failure> {
        let mut map = HeaderMap::new();
        for (at, header) in self.headers.iter().enumerate() {
            let wrong = |what: &str| Failure::new(format!("header {}: {what}", at + 1));
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| wrong("it is written `Name: value`"))?;
            let name = HeaderName::try_from(name.trim()).map_err(|_| wrong("no such name"))?;
            let mut value = HeaderValue::try_from(value.trim())
                .map_err(|_| wrong("the value has characters that no header can have"))?;
            // Keeps the value out of debug output, including that of the HTTP client.
            value.set_sensitive(true);
            map.append(name, value);
        }
        Ok(map)
    }
}
