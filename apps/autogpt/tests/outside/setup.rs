//! Tests of the setups that an agent refuses, and of what is printed of them.

use std::path::Path;
use std::time::Duration;

use autogpt::agent_loop::model::Endpoint;
use autogpt::agent_loop::prompt::Profile;
use autogpt::commands::web::SearxngSearch;
use autogpt::setup::{Setup, SetupError, State};

#[test]
fn no_secret_is_printed() {
    let base = "https://user:SECRET@a.example/v1?token=SECRET";
    let setup = |searxng: &str| {
        Setup::new(|name| match name {
            "OPENAI_API_KEY" | "GOOGLE_API_KEY" | "CUSTOM_SEARCH_ENGINE_ID" => {
                Some("SECRET".into())
            }
            "OPENAI_BASE_URL" => Some(base.into()),
            "SEARXNG_URL" => Some(searxng.into()),
            "AUTOGPT_SECRET" => Some("SECRET".into()),
            "AUTOGPT_STATE" => Some("rediss://user:SECRET@a.example/1?token=SECRET".into()),
            _ => None,
        })
    };
    let timeout = Duration::from_secs(1);
    let endpoint = Endpoint::new(base, Some("SECRET"), timeout).unwrap();
    let search = SearxngSearch::new(base, timeout).unwrap();
    for printed in [
        format!("{:?}", setup("user:SECRET@a.example")),
        // A key in place of the URL.
        format!("{:?}", setup("SECRET")),
        format!("{endpoint:?}"),
        format!("{search:?}"),
    ] {
        assert!(!printed.contains("SECRET"), "{printed}");
        assert!(printed.contains("\"https://…@a.example/v1\""), "{printed}");
    }
}

#[test]
fn a_secret_is_a_key_or_refused() {
    let read =
        |secret: &str| Setup::new(|name| (name == "AUTOGPT_SECRET").then(|| secret.to_owned()));
    let key = "00ff".repeat(15) + "0aF1";
    let mut expected = [0, 255].repeat(15);
    expected.extend([10, 241]);
    let found = read(&key).secret_key().unwrap().unwrap();
    assert_eq!(found.to_vec(), expected);
    assert!(!format!("{:?}", read(&key)).contains(&key));
    assert_eq!(read("").secret_key().unwrap(), None);
    for wrong in [
        "secret",
        "+0",
        &key[1..],
        &format!("{key}0"),
        &key.replace('F', "g"),
        &"é".repeat(32),
    ] {
        let error = read(wrong).secret_key().unwrap_err();
        assert!(matches!(error, SetupError::Secret), "{wrong}");
        let told = "AUTOGPT_SECRET is not 64 hexadecimal digits";
        assert_eq!(error.to_string(), told);
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
