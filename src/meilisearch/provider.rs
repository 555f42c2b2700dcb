//! Statements of the model's provider.

/// The statements of the model's provider about its service, which every chunk repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provider {
    /// The service tier, such as `default`.
    pub service_tier: Option<String>,
    /// The id of the configuration that the model runs with.
    pub system_fingerprint: Option<String>,
}
