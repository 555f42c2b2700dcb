//! Requests that administer a server.

use bytes::Bytes;
use http::{Method, Request};

use super::{IndexChange, WorkspaceChange};
use crate::meilisearch::instance::segment;
use crate::meilisearch::{Instance, InvalidAddress};

/// # Administration
///
/// Needs a key with the actions `chatsSettings.*` or `settings.*`.
impl Instance {
    /// Creates the request that switches chats on or off: `PATCH /experimental-features`.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn enable_chats(&self, on: bool) -> Result<Request<Bytes>, InvalidAddress> {
        let body = format!(r#"{{"chatCompletions":{on}}}"#);
        self.request(Method::PATCH, "/experimental-features", Some(body.into()))
    }

    /// Creates the request for a page of workspaces: `GET /chats`. Read the response with
    /// [`Workspaces::from_json`](super::Workspaces::from_json).
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn workspaces(&self, offset: u64, limit: u64) -> Result<Request<Bytes>, InvalidAddress> {
        let path = format!("/chats?offset={offset}&limit={limit}");
        self.request(Method::GET, &path, None)
    }

    /// Creates the request that tests if a workspace exists: `GET /chats/{workspace}`.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn workspace(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(
            Method::GET,
            &format!("/chats/{}", segment(workspace)?),
            None,
        )
    }

    /// Creates the request that deletes a workspace: `DELETE /chats/{workspace}`.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn delete_workspace(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(
            Method::DELETE,
            &format!("/chats/{}", segment(workspace)?),
            None,
        )
    }

    /// Creates the request for the settings of a workspace. Read the response with
    /// [`WorkspaceSettings::from_json`](super::WorkspaceSettings::from_json).
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn settings(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::GET, &settings(workspace)?, None)
    }

    /// Creates the request that changes the settings of a workspace, or creates it. The response
    /// has all settings.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn change_settings(
        &self,
        workspace: &str,
        change: &WorkspaceChange,
    ) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::PATCH, &settings(workspace)?, Some(change.to_json()))
    }

    /// Creates the request that resets the settings of a workspace to their defaults; the workspace
    /// is not deleted.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn reset_settings(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::DELETE, &settings(workspace)?, None)
    }

    /// Creates the request for the presentation of an index. Read the response with
    /// [`IndexSettings::from_json`](super::IndexSettings::from_json).
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn index_settings(&self, index: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::GET, &index_settings(index)?, None)
    }

    /// Creates the request that changes the presentation of an index.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn change_index_settings(
        &self,
        index: &str,
        change: &IndexChange,
    ) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(
            Method::PATCH,
            &index_settings(index)?,
            Some(change.to_json()),
        )
    }

    /// Creates the request that resets the presentation of an index to the defaults.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn reset_index_settings(&self, index: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::DELETE, &index_settings(index)?, None)
    }
}

fn settings(workspace: &str) -> Result<String, InvalidAddress> {
    Ok(format!("/chats/{}/settings", segment(workspace)?))
}

fn index_settings(index: &str) -> Result<String, InvalidAddress> {
    Ok(format!("/indexes/{}/settings/chat", segment(index)?))
}
