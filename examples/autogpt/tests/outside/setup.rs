//! Tests of the setups that an agent refuses, and of what is printed of them.

use std::path::Path;
use std::time::Duration;

use autogpt::model::Endpoint;
use autogpt::prompt::Profile;
use autogpt::setup::{Setup, SetupError, State};
use autogpt::web::SearxngSearch;

#[test]
fn no_secret_is_printed() {
    let base = "https://user:SECRET@a.example/v1?token=SECRET";
    let setup = Setup::new(|name| match name {
        "OPENAI_API_KEY" | "GOOGLE_API_KEY" | "CUSTOM_SEARCH_ENGINE_ID" => Some("SECRET".into()),
        "OPENAI_BASE_URL" => Some(base.into()),
        "SEARXNG_URL" => Some("user:SECRET@a.example".into()),
        "AUTOGPT_STATE" => Some("rediss://user:SECRET@a.example/1?token=SECRET".into()),
        _ => None,
    });
    let timeout = Duration::from_secs(1);
    let endpoint = Endpoint::new(base, Some("SECRET"), timeout).unwrap();
    let search = SearxngSearch::new(base, timeout).unwrap();
    for printed in [
        format!("{setup:?}"),
        format!("{endpoint:?}"),
        format!("{search:?}"),
    ] {
        assert!(!printed.contains("SECRET"), "{printed}");
        assert!(printed.contains("\"https://a.example/v1\""), "{printed}");
    }
}

#[test]
fn runs_are_not_kept_where_the_model_can_read_them() {
    let build = |workspace: &Path, state: &Path| {
        let mut setup = Setup::new(|_| None);
        setup.workspace = workspace.to_owned();
        setup.state = Some(State::Folder(state.to_owned()));
        setup.build(Profile::new("Bo", "a helper", &[]))
    };
    let folder = tempfile::tempdir().unwrap();
    let (workspace, runs) = (folder.path().join("workspace"), folder.path().join("runs"));
    let link = folder.path().join("link");
    assert!(build(&workspace, &folder.path().join("state")).is_ok());
    #[cfg(unix)]
    std::os::unix::fs::symlink(&workspace, &link).unwrap();
    for (workspace, state) in [
        (&workspace, workspace.clone()),
        (&workspace, workspace.join("a/b")),
        #[cfg(unix)]
        (&workspace, link.join("state")),
        // The folder of the runs is the workspace.
        (&runs, folder.path().to_owned()),
    ] {
        let refused = build(workspace, &state).err();
        assert!(
            matches!(refused, Some(SetupError::StateInWorkspace)),
            "{state:?}"
        );
        assert!(!workspace.join("a").exists());
    }
}
