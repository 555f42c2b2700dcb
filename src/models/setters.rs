//! The setters that the requests of all dialects have.

/// Implements the setters of a request with `tools` and `unknown`.
macro_rules! request_setters {
    ($request:ident) => {
        impl $request {
            /// Sets the tools that the answer may call.
            pub fn offer(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
                self.tools = tools.into_iter().collect();
                self
            }

            /// Adds any other member, such as `temperature`.
            ///
            /// # Errors
            ///
            /// [`WriteError`](crate::json::WriteError) if the value cannot be serialized.
            pub fn with<T: serde::Serialize + ?Sized>(
                mut self,
                member: impl Into<String>,
                value: &T,
            ) -> Result<Self, crate::json::WriteError> {
                self.unknown.push(member, crate::json::wire::encode(value)?);
                Ok(self)
            }
        }
    };
}

pub(crate) use request_setters;
