//! Who gives orders.
//!
//! Assumes: the list of users in its usual place, or LOGNAME.
//! Promises: somebody is always named.

/// This user on this host: user@host.
pub(super) fn actor() -> String {
    let uid = rustix::process::getuid().as_raw();
    let user = std::fs::read_to_string("/etc/passwd").ok().and_then(|users| user(&users, uid));
    let user = user.or_else(|| std::env::var("LOGNAME").ok());
    let user = user.unwrap_or_else(|| format!("uid-{uid}"));
    format!("{user}@{}", rustix::system::uname().nodename().to_string_lossy())
}

/// The name of a user in the system's own list.
fn user(users: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.get(2) == Some(&uid.as_str()))?;
    found.first().map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0::/root:/bin/sh\nodd\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n";
        assert_eq!(user(users, 1000), Some("ada".to_owned()));
        assert_eq!(user(users, 0), Some("root".to_owned()));
        assert_eq!(user(users, 7), None);
    }
}
