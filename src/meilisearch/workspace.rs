//! Workspaces and their settings.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::json::{Escape, JsonError, Kind, Members, ObjectWriter, Reader};
use crate::protocol::shown::Address;

use super::{ApiKey, Setting};

/// Where a workspace's model runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// OpenAI, or what speaks its protocol.
    #[default]
    OpenAi,
    /// Azure. Needs `baseUrl`, `deploymentId` and `apiVersion`.
    AzureOpenAi,
    /// Mistral.
    Mistral,
    /// vLLM. Needs `baseUrl`.
    VLlm,
    /// A source that this crate does not know. Servers up to 1.50 refuse every other.
    Other(String),
}

impl Source {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::OpenAi => "openAi",
            Self::AzureOpenAi => "azureOpenAi",
            Self::Mistral => "mistral",
            Self::VLlm => "vLlm",
            Self::Other(name) => name,
        }
    }

    fn from_name(name: Cow<'_, str>) -> Self {
        match &*name {
            "openAi" => Self::OpenAi,
            "azureOpenAi" => Self::AzureOpenAi,
            "mistral" => Self::Mistral,
            "vLlm" => Self::VLlm,
            _ => Self::Other(name.into_owned()),
        }
    }
}

/// The settings of a workspace, as the server shows them.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceSettings {
    /// Where the model runs.
    pub source: Source,
    /// The organisation at the provider.
    pub org_id: Option<String>,
    /// The project at the provider.
    pub project_id: Option<String>,
    /// The version of Azure's API.
    pub api_version: Option<String>,
    /// The deployment at Azure.
    pub deployment_id: Option<String>,
    /// The provider's address, up to and without `/chat/completions`.
    pub base_url: Option<String>,
    /// What is shown of the provider's key. Never a key: it cannot become an [`ApiKey`].
    pub redacted_api_key: Option<String>,
    /// The instructions.
    pub prompts: Prompts,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The instructions of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompts {
    /// What the model is told at the start of every conversation.
    pub system: Option<String>,
    /// What the search function is for.
    pub search_description: Option<String>,
    /// What its words are.
    pub search_q_param: Option<String>,
    /// What its filter is.
    pub search_filter_param: Option<String>,
    /// What its index is.
    pub search_index_uid_param: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl WorkspaceSettings {
    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// When it is not a JSON object.
    pub fn read(body: &Bytes) -> Result<Self, JsonError> {
        let mut settings = Self::default();
        let mut reader = Reader::new(body)?;
        reader.object_keeping(&mut settings.unknown, |reader, key| {
            let text = match &*key {
                "source" => {
                    if let Some(name) = reader.string()? {
                        settings.source = Source::from_name(name);
                    }
                    return Ok(());
                }
                "prompts" if reader.is(Kind::Object) => {
                    return settings.prompts.read(reader);
                }
                "orgId" => &mut settings.org_id,
                "projectId" => &mut settings.project_id,
                "apiVersion" => &mut settings.api_version,
                "deploymentId" => &mut settings.deployment_id,
                "baseUrl" => &mut settings.base_url,
                "apiKey" => &mut settings.redacted_api_key,
                _ => return Ok(()),
            };
            nullable(reader, text)
        })?;
        reader.end()?;
        Ok(settings)
    }
}

/// Shows nothing of the address that could let somebody in.
impl fmt::Debug for WorkspaceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkspaceSettings")
            .field("source", &self.source)
            .field("org_id", &self.org_id)
            .field("project_id", &self.project_id)
            .field("api_version", &self.api_version)
            .field("deployment_id", &self.deployment_id)
            .field("base_url", &self.base_url.as_deref().map(Address))
            .field("redacted_api_key", &self.redacted_api_key)
            .field("prompts", &self.prompts)
            .field("unknown", &self.unknown)
            .finish()
    }
}

impl Prompts {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), JsonError> {
        reader.object_keeping(&mut self.unknown, |reader, key| {
            let text = match &*key {
                "system" => &mut self.system,
                "searchDescription" => &mut self.search_description,
                "searchQParam" => &mut self.search_q_param,
                "searchFilterParam" => &mut self.search_filter_param,
                "searchIndexUidParam" => &mut self.search_index_uid_param,
                _ => return Ok(()),
            };
            nullable(reader, text)
        })
    }
}

fn nullable(reader: &mut Reader<'_>, text: &mut Option<String>) -> Result<(), JsonError> {
    if !reader.null()? {
        if let Some(value) = reader.string()? {
            *text = Some(value.into_owned());
        }
    }
    Ok(())
}

/// A change to the settings of a workspace; it creates the workspace when there is none.
///
/// What is read from the server is no change: a redacted key cannot get in here.
///
/// ```
/// use copilot_wire::meilisearch::{Setting, Source, WorkspaceChange};
///
/// let mut change = WorkspaceChange::default();
/// change.source = Source::VLlm.into();
/// change.base_url = "http://127.0.0.1:8000/v1".into();
/// change.prompts.system = Setting::Reset;
/// assert_eq!(
///     String::from_utf8(change.to_json())?,
///     r#"{"source":"vLlm","baseUrl":"http://127.0.0.1:8000/v1","prompts":{"system":null}}"#,
/// );
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceChange {
    /// Where the model runs.
    pub source: Setting<Source>,
    /// The organisation at the provider.
    pub org_id: Setting<String>,
    /// The project at the provider.
    pub project_id: Setting<String>,
    /// The version of Azure's API.
    pub api_version: Setting<String>,
    /// The deployment at Azure.
    pub deployment_id: Setting<String>,
    /// The provider's address, up to and without `/chat/completions`. Servers since 1.35 refuse
    /// private addresses unless they are told otherwise.
    pub base_url: Setting<String>,
    /// The provider's key.
    pub api_key: Setting<ApiKey>,
    /// The instructions.
    pub prompts: PromptsChange,
}

/// A change to the instructions of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptsChange {
    /// What the model is told at the start of every conversation.
    pub system: Setting<String>,
    /// What the search function is for.
    pub search_description: Setting<String>,
    /// What its words are.
    pub search_q_param: Setting<String>,
    /// What its filter is.
    pub search_filter_param: Setting<String>,
    /// What its index is.
    pub search_index_uid_param: Setting<String>,
}

impl WorkspaceChange {
    /// The body of the request.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut body = ObjectWriter::new(&mut out, Escape::Json);
        self.source.write(&mut body, "source", |source, place| {
            place.str(source.as_str());
        });
        for (key, text) in [
            ("orgId", &self.org_id),
            ("projectId", &self.project_id),
            ("apiVersion", &self.api_version),
            ("deploymentId", &self.deployment_id),
            ("baseUrl", &self.base_url),
        ] {
            text.write(&mut body, key, |text, place| place.str(text));
        }
        self.api_key
            .write(&mut body, "apiKey", |key, place| place.str(key.secret()));
        let prompts = self.prompts.members();
        if prompts.iter().any(|(_, text)| !text.is_keep()) {
            // Strings always write.
            let _ = body.object("prompts", |object| {
                for (key, text) in prompts {
                    text.write(object, key, |text, place| place.str(text));
                }
                Ok(())
            });
        }
        body.finish();
        out
    }
}

/// Shows neither the key nor what of the address could let somebody in.
impl fmt::Debug for WorkspaceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = match &self.base_url {
            Setting::Set(url) => Setting::Set(Address(url)),
            Setting::Reset => Setting::Reset,
            Setting::Keep => Setting::Keep,
        };
        f.debug_struct("WorkspaceChange")
            .field("source", &self.source)
            .field("org_id", &self.org_id)
            .field("project_id", &self.project_id)
            .field("api_version", &self.api_version)
            .field("deployment_id", &self.deployment_id)
            .field("base_url", &base_url)
            .field("api_key", &self.api_key)
            .field("prompts", &self.prompts)
            .finish()
    }
}

impl PromptsChange {
    fn members(&self) -> [(&'static str, &Setting<String>); 5] {
        [
            ("system", &self.system),
            ("searchDescription", &self.search_description),
            ("searchQParam", &self.search_q_param),
            ("searchFilterParam", &self.search_filter_param),
            ("searchIndexUidParam", &self.search_index_uid_param),
        ]
    }
}

/// A page of the workspaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Workspaces {
    /// Their ids.
    pub uids: Vec<String>,
    /// How many come before these.
    pub offset: u64,
    /// How many a page has at most.
    pub limit: u64,
    /// How many there are.
    pub total: u64,
}

impl Workspaces {
    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// When it is not a JSON object.
    pub fn read(body: &Bytes) -> Result<Self, JsonError> {
        let mut page = Self::default();
        let mut reader = Reader::new(body)?;
        reader.object(|reader, key| {
            let number = match &*key {
                "results" if reader.is(Kind::Array) => {
                    return reader.array(|reader, _| {
                        let uid = reader.value()?.get("uid");
                        page.uids
                            .extend(uid.and_then(|uid| Some(uid.string()?.into_owned())));
                        Ok(())
                    });
                }
                "offset" => &mut page.offset,
                "limit" => &mut page.limit,
                "total" => &mut page.total,
                _ => return Ok(()),
            };
            *number = reader.u64()?.unwrap_or_default();
            Ok(())
        })?;
        reader.end()?;
        Ok(page)
    }
}
