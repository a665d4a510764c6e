//! A self-signed certificate for a server on 127.0.0.1.
//!
//! Assumes `openssl`. Promises a certificate for `localhost` and `127.0.0.1`, its own authority, so
//! that a client that is given the file can verify the server in full.

use std::path::Path;

use crate::folder::Folder;
use crate::program;

/// Makes `name.crt` and `name.key` in `place`, owned by the server's user.
pub(crate) async fn make(folder: &Folder, place: &Path, name: &str) -> anyhow::Result<()> {
    let (certificate, key) =
        (place.join(name).with_extension("crt"), place.join(name).with_extension("key"));
    let mut command = program::command(&program::find("openssl")?);
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    command.args(["-nodes", "-days", "2", "-subj", "/CN=localhost"]);
    command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    // Some clients take no authority for a server, though they are told to trust this very file.
    command.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    command.arg("-out").arg(&certificate).arg("-keyout").arg(&key);
    program::run(command).await?;
    folder.own(&certificate)?;
    folder.own(&key)
}
