//! Workspaces and their settings.

use std::fmt;

use bytes::Bytes;

use crate::json::{Escape, List, Members, ObjectWriter, Wire};
use crate::protocol::redacted::Address;

use super::Setting;
use crate::meilisearch::ApiKey;

/// The provider of a workspace's model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub enum Source {
    /// OpenAI, or a server with its API.
    #[default]
    OpenAi,
    /// Azure. Needs `baseUrl`, `deploymentId` and `apiVersion`.
    AzureOpenAi,
    /// Mistral.
    Mistral,
    /// vLLM. Needs `baseUrl`.
    VLlm,
    /// A provider that this crate does not know. Servers up to 1.50 refuse all others.
    #[wire(other)]
    Other(String),
}

/// The settings of a workspace, as the server returns them.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", null_is_absent, escape = Json)]
pub struct WorkspaceSettings {
    /// The provider of the model.
    #[wire(always)]
    pub source: Source,
    /// The organisation at the provider.
    pub org_id: Option<String>,
    /// The project at the provider.
    pub project_id: Option<String>,
    /// The version of Azure's API.
    pub api_version: Option<String>,
    /// The deployment at Azure.
    pub deployment_id: Option<String>,
    /// The provider's URL, without `/chat/completions`.
    pub base_url: Option<String>,
    /// The provider's key in redacted form. It cannot become an [`ApiKey`].
    #[wire(name = "apiKey")]
    pub redacted_api_key: Option<String>,
    /// The instructions.
    pub prompts: Prompts,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The instructions of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", null_is_absent, escape = Json, empty_is_absent)]
pub struct Prompts {
    /// The instructions at the start of every conversation.
    pub system: Option<String>,
    /// The description of the search function.
    pub search_description: Option<String>,
    /// The description of its query.
    pub search_q_param: Option<String>,
    /// The description of its filter.
    pub search_filter_param: Option<String>,
    /// The description of its index.
    pub search_index_uid_param: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// Prints no part of the URL that can be a credential.
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

/// A change of the settings of a workspace, which creates the workspace if it does not exist.
///
/// It is a type of its own, so that a redacted key in [`WorkspaceSettings`] cannot be sent back.
///
/// ```
/// use copilot_wire::meilisearch::admin::{Setting, Source, WorkspaceChange};
///
/// let mut change = WorkspaceChange::default();
/// change.source = Source::VLlm.into();
/// change.base_url = "http://127.0.0.1:8000/v1".into();
/// change.prompts.system = Setting::Reset;
/// assert_eq!(
///     change.to_json(),
///     r#"{"source":"vLlm","baseUrl":"http://127.0.0.1:8000/v1","prompts":{"system":null}}"#,
/// );
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceChange {
    /// The provider of the model.
    pub source: Setting<Source>,
    /// The organisation at the provider.
    pub org_id: Setting<String>,
    /// The project at the provider.
    pub project_id: Setting<String>,
    /// The version of Azure's API.
    pub api_version: Setting<String>,
    /// The deployment at Azure.
    pub deployment_id: Setting<String>,
    /// The provider's URL, without `/chat/completions`. Servers since 1.35 refuse private addresses
    /// by default.
    pub base_url: Setting<String>,
    /// The provider's key.
    pub api_key: Setting<ApiKey>,
    /// The instructions.
    pub prompts: PromptsChange,
}

/// A change of the instructions of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptsChange {
    /// The instructions at the start of every conversation.
    pub system: Setting<String>,
    /// The description of the search function.
    pub search_description: Setting<String>,
    /// The description of its query.
    pub search_q_param: Setting<String>,
    /// The description of its filter.
    pub search_filter_param: Setting<String>,
    /// The description of its index.
    pub search_index_uid_param: Setting<String>,
}

impl WorkspaceChange {
    /// Returns the body of the request.
    #[must_use]
    pub fn to_json(&self) -> Bytes {
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
        // An object without members would be a change of nothing; the member is left out like the
        // others.
        if prompts.iter().any(|(_, text)| !text.is_unchanged()) {
            // Serializing strings cannot fail.
            let _ = body.object("prompts", |object| {
                for (key, text) in prompts {
                    text.write(object, key, |text, place| place.str(text));
                }
                Ok(())
            });
        }
        body.finish();
        out.into()
    }
}

/// Prints neither the key nor a part of the URL that can be a credential.
impl fmt::Debug for WorkspaceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = match &self.base_url {
            Setting::Set(url) => Setting::Set(Address(url)),
            Setting::Reset => Setting::Reset,
            Setting::Unchanged => Setting::Unchanged,
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

/// A page of workspaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json)]
pub struct Workspaces {
    /// The workspaces.
    #[wire(always)]
    pub results: List<WorkspaceEntry>,
    /// The number of workspaces before this page.
    #[wire(always)]
    pub offset: u64,
    /// The maximum number of workspaces on a page.
    #[wire(always)]
    pub limit: u64,
    /// The number of all workspaces.
    #[wire(always)]
    pub total: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A workspace on a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json)]
pub struct WorkspaceEntry {
    /// The id.
    #[wire(always)]
    pub uid: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}
