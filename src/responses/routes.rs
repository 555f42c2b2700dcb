//! The routes of what is stored: responses, conversations, and replies that go on in the background.

use async_trait::async_trait;
use http::{Method, Response};

use super::documents::refuse;
#[cfg(feature = "resumable")]
use super::stored;
use super::{conversations, retrieve};
use crate::agent::Body;
use crate::protocol::Refusal;
use crate::router::{Endpoint, HttpRequest, MountError, RouteKind, Site};

/// Adds the routes of the stored responses to requests at `path`.
pub(super) fn mount(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
    let one = format!("{path}/{{response}}");
    let items = Stored::new(path, Ask::InputItems);
    site.conversation_route(Method::GET, &format!("{one}/input_items"), items)?;
    site.conversation_route(Method::DELETE, &one, Stored::new(path, Ask::Delete))?;
    site.conversation_route(Method::GET, &one, Stored::new(path, Ask::Retrieve))?;
    mount_conversations(path, site)
}

/// Adds the routes of conversations, for a router whose turns are requested at `path`.
fn mount_conversations(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
    let base = path.strip_suffix("/responses").unwrap_or(path);
    let all = format!("{base}/conversations");
    let one = format!("{all}/{{conversation}}");
    let items = format!("{one}/items");
    let item = format!("{items}/{{item}}");
    for (method, route, ask) in [
        (Method::POST, &all, Ask::Create),
        (Method::GET, &one, Ask::Conversation),
        (Method::POST, &one, Ask::Update),
        (Method::DELETE, &one, Ask::DeleteConversation),
        (Method::GET, &items, Ask::Items),
        (Method::POST, &items, Ask::AddItems),
        (Method::GET, &item, Ask::Item),
        (Method::DELETE, &item, Ask::DeleteItem),
    ] {
        site.conversation_route(method, route, Stored::new(path, ask))?;
    }
    Ok(())
}

/// Adds the routes of replies that go on in the background to requests at `path`.
#[cfg(feature = "resumable")]
pub(super) fn mount_replies(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
    let one = format!("{path}/{{response}}");
    let cancel = Stored::new(path, Ask::Cancel);
    site.resumable_route(Method::POST, &format!("{one}/cancel"), cancel)?;
    site.resumable_route(Method::GET, &one, Stored::new(path, Ask::Retrieve))
}

/// The endpoint of what is stored of the requests at a path.
struct Stored {
    path: String,
    ask: Ask,
}

/// The requests about what is stored.
enum Ask {
    /// `GET /responses/{id}`
    Retrieve,
    /// `GET /responses/{id}/input_items`
    InputItems,
    /// `DELETE /responses/{id}`
    Delete,
    /// `POST /responses/{id}/cancel`
    #[cfg(feature = "resumable")]
    Cancel,
    /// `POST /conversations`
    Create,
    /// `GET /conversations/{id}`
    Conversation,
    /// `POST /conversations/{id}`
    Update,
    /// `DELETE /conversations/{id}`
    DeleteConversation,
    /// `GET /conversations/{id}/items`
    Items,
    /// `POST /conversations/{id}/items`
    AddItems,
    /// `GET /conversations/{id}/items/{item}`
    Item,
    /// `DELETE /conversations/{id}/items/{item}`
    DeleteItem,
}

impl Stored {
    fn new(path: &str, ask: Ask) -> Self {
        let path = path.to_owned();
        Self { path, ask }
    }

    async fn answer(&self, call: &HttpRequest) -> Result<Response<Body>, Refusal> {
        match self.ask {
            Ask::Retrieve => retrieve::retrieve(call, &self.path).await,
            Ask::InputItems => retrieve::input_items(call, &self.path).await,
            Ask::Delete => retrieve::delete(call, &self.path).await,
            #[cfg(feature = "resumable")]
            Ask::Cancel => {
                retrieve::turn(call, &self.path).await?;
                stored::cancel(call, &self.path).await
            }
            Ask::Create => conversations::create(call, &self.path).await,
            Ask::Conversation => conversations::retrieve(call, &self.path).await,
            Ask::Update => conversations::update(call, &self.path).await,
            Ask::DeleteConversation => conversations::delete(call, &self.path).await,
            Ask::Items => conversations::list(call, &self.path).await,
            Ask::AddItems => conversations::add(call, &self.path).await,
            Ask::Item => conversations::item(call, &self.path).await,
            Ask::DeleteItem => conversations::delete_item(call, &self.path).await,
        }
    }
}

#[async_trait]
impl Endpoint for Stored {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let answer = self.answer(&call).await;
        answer.unwrap_or_else(|refusal| refuse(&refusal))
    }

    /// Returns `false` where official clients send neither a body nor its type.
    fn has_body(&self) -> bool {
        matches!(self.ask, Ask::Create | Ask::Update | Ask::AddItems)
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        refuse(refusal)
    }

    fn kind(&self) -> RouteKind {
        match self.ask {
            Ask::Retrieve | Ask::InputItems => RouteKind::Resume,
            #[cfg(feature = "resumable")]
            Ask::Cancel => RouteKind::Stop,
            _ => RouteKind::Other,
        }
    }
}
