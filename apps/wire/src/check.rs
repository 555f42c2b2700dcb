//! `wire check`: the conformance kit, over HTTP.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire_kit::Kit;
use copilot_wire_kit::check::{Check, Endpoint, EndpointBody, EndpointError, Report, Target};
use futures_util::TryStreamExt;
use http::{HeaderMap, Request, Response};

use crate::cli::Check as Options;
use crate::client::{Client, ClientError};
use crate::clock;
use crate::key;
use crate::progress::Line;
use crate::report::Sheet;
use crate::screen::{Screen, Style, plain, short};
use crate::verdict::{self, Failure, Verdict};

/// Checks an endpoint, or an agent that editors start.
pub(crate) async fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    #[cfg(feature = "acp")]
    if options.protocol.path.is_empty() {
        let program = crate::acp::start(&options.url)?;
        let target = Target::new(options.protocol);
        return judge(&program, target, options.url.clone(), options, screen).await;
    }
    // The headers belong to the target and not to the client, because preflights must not have them.
    let mut client = Client::new(&options.url, HeaderMap::new())?;
    let headers = options.headers.map()?;
    // If no connection can be made, there is nothing to check.
    client.resolve(&headers).await.map_err(Failure::new)?;
    let mut target = Target::new(options.protocol);
    for (name, value) in &headers {
        target = target.header(name.clone(), value.clone());
    }
    if let Some(path) = client.path() {
        target = target.path(path);
    }
    if let Some(model) = &options.model {
        target = target.model(model);
    }
    if let Some(path) = &options.key {
        target = target.signer(key::signer(options.protocol, path)?);
    }
    if let Some(model) = &options.model {
        has_model(&client, options.protocol, model).await?;
    }
    judge(&client, target, client.origin(), options, screen).await
}

/// Judges an endpoint, and shows the report.
async fn judge(
    endpoint: &dyn Endpoint,
    target: Target,
    origin: String,
    options: &Options,
    screen: &mut Screen,
) -> Result<Verdict, Failure> {
    let files = options.files.create()?;
    let (time, start) = (clock::now(), Instant::now());
    let mut check = Check::new(endpoint, target);
    let (line, far) = (Line::new(), Mutex::default());
    let stopped = tokio::select! {
        () = check.run(|progress| {
            let reached = format!("{} of {}", progress.number, progress.total);
            line.show(format_args!("{reached}  {}", progress.request));
            *far.lock().unwrap_or_else(PoisonError::into_inner) = reached;
        }) => false,
        stop = tokio::signal::ctrl_c() => stop.map(|()| true)?,
    };
    line.clear();
    let report = check.report();
    let far = far.into_inner().unwrap_or_else(PoisonError::into_inner);
    let stopped = stopped.then(|| format!("stopped at request {far}"));
    // Both outputs are written, even if one of them fails.
    let written = files.write(&Sheet {
        kit: options.protocol,
        report: &report,
        origin,
        time,
        took: start.elapsed(),
        stopped: stopped.as_deref(),
    });
    if screen.is_json() {
        screen.json_line(&report)?;
    } else {
        show(&report, screen)?;
    }
    written?;
    match (stopped, report.has_errors()) {
        (None, false) => Ok(Verdict::Clean),
        (None, true) => Ok(Verdict::Wrong),
        // The remaining requests were not checked.
        (Some(stopped), false) => Err(Failure::Said(stopped)),
        (Some(stopped), true) => {
            verdict::tell(stopped);
            Ok(Verdict::Wrong)
        }
    }
}

/// Checks that the endpoint lists the model, if it has a list: with an unknown model every rule would be broken.
async fn has_model(client: &Client, kit: Kit, model: &str) -> Result<(), Failure> {
    let Some(list) = (kit.models)(client.path().unwrap_or(kit.path)) else {
        return Ok(());
    };
    match client.models(&list).await {
        Some(models) if !models.is_empty() && !models.iter().any(|known| known == model) => {
            let known = models.join(", ");
            let known = plain(&short(&known)).into_owned();
            Err(Failure::new(format!(
                "the endpoint has no model {model:?}, only: {known}"
            )))
        }
        _ => Ok(()),
    }
}

/// Formats the report, with its headings in colour.
fn show(report: &Report, screen: &mut Screen) -> Result<(), Failure> {
    for line in report.to_string().lines() {
        let line = match line.split_once(':') {
            Some(("error", _)) => screen.paint(Style::Bad, line),
            Some(("warning", _)) => screen.paint(Style::Note, line),
            _ => line.to_owned(),
        };
        screen.line(line)?;
    }
    Ok(())
}

#[async_trait]
impl Endpoint for Client {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let answer = self.send(request).await.map_err(EndpointError::new)?;
        let mut response = Response::new(());
        *response.status_mut() = answer.status();
        *response.version_mut() = answer.version();
        response.headers_mut().clone_from(answer.headers());
        let body = answer.bytes_stream();
        let body = body.map_err(|error| EndpointError::new(ClientError::from(error)));
        Ok(response.map(|()| -> EndpointBody { Box::pin(body) }))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
