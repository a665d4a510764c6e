//! Which kind of file system a database lies on.
//!
//! Assumes: Linux, whose kernel names each kind by a number; elsewhere nothing is known.
//! Promises: a file system that several hosts share is refused, because SQLite's log works within
//! one host only, and so does the lock that proves a process dead. Where it cannot be seen whether
//! others share it, no lock proves anything.

use std::path::Path;

/// How far a kind of file system can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The kernel of this host keeps all locks.
    Local,
    /// It depends on a program or a host that is not seen from here.
    Unclear(&'static str),
    /// Several hosts share it.
    Shared(&'static str),
}

const KINDS: [(u32, Trust); 21] = [
    (0x0000_6969, Trust::Shared("NFS")),
    (0x0000_517b, Trust::Shared("SMB")),
    (0xff53_4d42, Trust::Shared("CIFS")),
    (0xfe53_4d42, Trust::Shared("SMB 2")),
    (0x5346_414f, Trust::Shared("AFS")),
    (0x6b41_4653, Trust::Shared("AFS")),
    (0x7375_7245, Trust::Shared("Coda")),
    (0x0000_564c, Trust::Shared("NCP")),
    (0x00c3_6400, Trust::Shared("Ceph")),
    (0x0bd0_0bd0, Trust::Shared("Lustre")),
    (0x0116_1970, Trust::Shared("GFS2")),
    (0x7461_636f, Trust::Shared("OCFS2")),
    (0x4750_4653, Trust::Shared("GPFS")),
    (0x1983_0326, Trust::Shared("BeeGFS")),
    (0x2003_0528, Trust::Shared("OrangeFS")),
    (0xaad7_aaea, Trust::Shared("PanFS")),
    // sshfs, GlusterFS, JuiceFS, virtiofs and many more.
    (0x6573_5546, Trust::Unclear("FUSE")),
    (0x0102_1997, Trust::Unclear("9P")),
    // Folders of the host in a virtual machine: VirtualBox, VMware, Parallels.
    (0x786f_4256, Trust::Unclear("vboxsf")),
    (0xbacb_acbc, Trust::Unclear("vmhgfs")),
    (0x7c7c_6673, Trust::Unclear("prl_fs")),
];

/// What is known about the file system that this folder or file lies on.
pub(super) fn trust(path: &Path) -> Trust {
    magic(path).map_or(Trust::Local, of)
}

/// Why a database must not lie there, if so.
pub(super) fn refusal(path: &Path) -> Option<String> {
    match trust(path) {
        Trust::Shared(kind) => Some(format!(
            "it lies on a network file system ({kind}): SQLite's log and the locks that prove a process dead work within \
             one host only; use a local disk, or a database server for several hosts"
        )),
        Trust::Local | Trust::Unclear(_) => None,
    }
}

fn of(magic: u32) -> Trust {
    KINDS.iter().find(|(kind, _)| *kind == magic).map_or(Trust::Local, |(_, trust)| *trust)
}

#[cfg(target_os = "linux")]
fn magic(path: &Path) -> Option<u32> {
    let found = rustix::fs::statfs(path).ok()?;
    // Some kinds have the highest bit set, which a signed word extends.
    u32::try_from(i128::from(found.f_type) & 0xffff_ffff).ok()
}

#[cfg(not(target_os = "linux"))]
fn magic(_path: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        for (magic, shared) in
            [(0x6969, true), (0xff53_4d42, true), (0x5846_5342, false), (0xef53, false)]
        {
            assert_eq!(matches!(of(magic), Trust::Shared(_)), shared, "{magic:x}");
        }
    }

    #[test]
    fn locks_are_believed_on_local_file_systems_only() {
        let kinds = [
            (0x6573_5546, Trust::Unclear("FUSE")),
            (0x0102_1997, Trust::Unclear("9P")),
            (0x786f_4256, Trust::Unclear("vboxsf")),
            (0x6969, Trust::Shared("NFS")),
            (0xef53, Trust::Local),
            (0x5846_5342, Trust::Local),
            (0x9123_683e, Trust::Local),
            (0x794c_7630, Trust::Local),
            (0x0102_1994, Trust::Local),
        ];
        for (magic, trust) in kinds {
            assert_eq!(of(magic), trust, "{magic:x}");
        }
    }

    #[test]
    fn each_kind_is_listed_once() {
        for (at, (kind, _)) in KINDS.iter().enumerate() {
            assert!(KINDS[..at].iter().all(|(other, _)| other != kind), "{kind:x}");
        }
    }

    #[test]
    fn what_this_test_writes_to_is_local() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(refusal(folder.path()), None);
        assert_eq!(refusal(Path::new("/no/such/folder")), None);
    }
}
