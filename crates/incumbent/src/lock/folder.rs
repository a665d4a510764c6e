//! The folder beside a database, in which its candidates keep their locks and the bell.
//!
//! Assumes: no link leads to the database's own folder.
//! Promises: a folder in which a stranger could put files is not used. Links are never followed, and
//! nothing is written to but a plain file with one name.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, Gid, Mode, OFlags, Uid, fchown, openat};

use crate::error::Error;

/// Everybody may write.
const OTHERS_WRITE: u32 = 0o002;
/// The group may write.
const GROUP_WRITES: u32 = 0o020;

/// The folder beside one database.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    database: PathBuf,
    path: PathBuf,
}

/// Who may do what with a file or a folder.
#[derive(Clone, Copy, Debug)]
struct Rights {
    owner: u32,
    group: u32,
    mode: u32,
}

impl Rights {
    fn of(found: &Metadata) -> Rights {
        Rights { owner: found.uid(), group: found.gid(), mode: found.mode() }
    }

    const fn grant(self, right: u32) -> bool {
        self.mode & right != 0
    }
}

/// A folder that was found in order, and is open.
pub(super) struct Opened {
    folder: File,
    database: Rights,
}

impl Folder {
    pub(crate) fn beside(database: &Path) -> Folder {
        let mut name = database.as_os_str().to_owned();
        name.push("-candidates");
        Folder { database: database.to_owned(), path: PathBuf::from(name) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it if it is missing, and makes sure that no stranger can write to it.
    pub(crate) fn make(&self) -> Result<(), Error> {
        self.try_make().map_err(|error| self.refused(&error))
    }

    /// Says what is wrong with it, if it is there.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.open() {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.refused(&error)),
            _ => Ok(()),
        }
    }

    fn refused(&self, error: &IoError) -> Error {
        Error::Open { place: self.path.display().to_string(), problem: error.to_string() }
    }

    fn try_make(&self) -> IoResult<()> {
        let database = self.database()?;
        let made = match rustix::fs::mkdir(&self.path, Mode::RWXU) {
            Ok(()) => true,
            Err(rustix::io::Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        let folder = self.open_unchecked()?;
        if made && is_as_made(&folder)? {
            // A database of another user's, or of a group: they must be able to contend too.
            let me = rustix::process::geteuid();
            let owner =
                (me.is_root() && database.owner != 0).then(|| Uid::from_raw(database.owner));
            // Fails for one who is not in that group, who shares nothing with it either.
            let _ = fchown(&folder, owner, Some(Gid::from_raw(database.group)));
            folder.set_permissions(Permissions::from_mode(folder_mode(database)))?;
        } else {
            self.narrow(&folder, database)?;
        }
        self.judge(&folder, database)
    }

    /// Earlier versions made it as the umask said: a group that may not write to the database may not
    /// write here either.
    fn narrow(&self, folder: &File, database: Rights) -> IoResult<()> {
        let found = Rights::of(&folder.metadata()?);
        let me = rustix::process::geteuid();
        let mine = me.is_root() || me.as_raw() == found.owner;
        if mine && found.mode & 0o022 == GROUP_WRITES && !shares(found, database) {
            folder.set_permissions(Permissions::from_mode(found.mode & 0o777 & !GROUP_WRITES))?;
            tracing::warn!(folder = %self.path.display(), "took the right to write from the group of the lock folder");
        }
        Ok(())
    }

    /// Opens it, if no stranger can write to it.
    pub(super) fn open(&self) -> IoResult<Opened> {
        let (folder, database) = (self.open_unchecked()?, self.database()?);
        self.judge(&folder, database)?;
        Ok(Opened { folder, database })
    }

    fn open_unchecked(&self) -> IoResult<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(CWD, &self.path, flags, Mode::empty()).map(File::from);
        opened.map_err(|error| match error {
            rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP => IoError::other(
                "it is a link or a file where the folder of locks belongs: remove it, and find out who made it",
            ),
            error => error.into(),
        })
    }

    fn database(&self) -> IoResult<Rights> {
        fs::metadata(&self.database).map(|found| Rights::of(&found))
    }

    fn judge(&self, folder: &File, database: Rights) -> IoResult<()> {
        // Without a look at it, the folder above counts as open to all.
        let above = self.path.parent().and_then(|above| fs::metadata(above).ok());
        let open = above.is_none_or(|above| above.mode() & OTHERS_WRITE != 0);
        let me = rustix::process::geteuid().as_raw();
        match objection(Rights::of(&folder.metadata()?), database, me, open) {
            Some(problem) => Err(IoError::new(ErrorKind::PermissionDenied, problem)),
            None => Ok(()),
        }
    }
}

impl Opened {
    /// Opens a file for reading.
    pub(super) fn read(&self, name: &str) -> IoResult<File> {
        self.file(name, OFlags::RDONLY)
    }

    /// Opens a file for writing, and makes it if it is missing. It is not emptied.
    pub(super) fn write(&self, name: &str) -> IoResult<File> {
        self.file(name, OFlags::WRONLY | OFlags::CREATE)
    }

    /// Makes a file that is not there.
    pub(super) fn create(&self, name: &str) -> IoResult<File> {
        self.file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    fn file(&self, name: &str, flags: OFlags) -> IoResult<File> {
        // A pipe must not make anybody wait.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)?);
        let found = file.metadata()?;
        if !found.is_file() || found.nlink() != 1 {
            return Err(IoError::other("it is no plain file with one name"));
        }
        let (wanted, here) = (file_mode(self.database), Rights::of(&found));
        let mine = here.owner == rustix::process::geteuid().as_raw();
        if flags.contains(OFlags::CREATE) && mine && here.mode & 0o777 != wanted {
            file.set_permissions(Permissions::from_mode(wanted))?;
        }
        Ok(file)
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> IoResult<()> {
        Ok(rustix::fs::renameat(&self.folder, from, &self.folder, to)?)
    }

    pub(super) fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.folder, name, rustix::fs::AtFlags::empty());
    }

    /// When a file was last written to, in seconds since 1970.
    pub(super) fn modified(&self, name: &str) -> Option<u64> {
        let found = rustix::fs::statat(&self.folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        u64::try_from(found.ok()?.st_mtime).ok()
    }

    /// The names of everything that is in it.
    pub(super) fn names(&self) -> Vec<String> {
        names(&self.folder)
    }
}

/// Whether this is the folder that was made a moment ago, and not another that was moved into its place, whose rights
/// must stay as they are. Other candidates of this user may use it already.
fn is_as_made(folder: &File) -> IoResult<bool> {
    // A folder inherits this from the one above.
    const SET_GROUP: u32 = 0o2000;
    let found = Rights::of(&folder.metadata()?);
    let mine = found.owner == rustix::process::geteuid().as_raw();
    let private = found.mode & 0o7777 & !SET_GROUP & !0o700 == 0;
    Ok(mine && private && names(folder).iter().all(|name| super::is_ours(name)))
}

/// The names of everything that is in a folder.
fn names(folder: &File) -> Vec<String> {
    let entries = Dir::read_from(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Who may read the database may look into the folder; who may write it may contend. Only that
/// everybody may write is granted by neither.
const fn folder_mode(database: Rights) -> u32 {
    let mut mode = 0o700;
    if database.grant(0o040) {
        mode |= 0o050;
    }
    if database.grant(GROUP_WRITES) {
        mode |= 0o070;
    }
    if database.grant(0o004) {
        mode |= 0o005;
    }
    mode
}

/// The same for a file in it.
const fn file_mode(database: Rights) -> u32 {
    folder_mode(database) & 0o666
}

/// Whether a group that may write to the database is the folder's too.
const fn shares(folder: Rights, database: Rights) -> bool {
    database.grant(GROUP_WRITES) && folder.group == database.group
}

/// Why a stranger could put files into the folder, if so. A stranger is one who may not write to the
/// database. `open` says that everybody may make folders where this one is.
fn objection(folder: Rights, database: Rights, me: u32, open: bool) -> Option<String> {
    let shared = shares(folder, database);
    let known = [me, 0, database.owner].contains(&folder.owner) || (shared && !open);
    if !known {
        return Some(format!(
            "it belongs to the user {}, who could forge the death of a leader: let it belong to the owner of the \
             database, or remove it while no candidate runs",
            folder.owner
        ));
    }
    let who = if folder.grant(OTHERS_WRITE) {
        "everybody"
    } else if folder.grant(GROUP_WRITES) && !shared {
        "its group"
    } else {
        return None;
    };
    Some(format!(
        "{who} may write to it, and could forge the death of a leader: remove it while no candidate runs, or take that \
         right away (chmod go-w)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const ME: u32 = 1_000;
    const OWNER: u32 = 1_001;
    const STRANGER: u32 = 1_002;
    const TEAM: u32 = 50;

    fn is_refused(folder: (u32, u32, u32), database: (u32, u32, u32), open: bool) -> bool {
        let [folder, database] =
            [folder, database].map(|(owner, group, mode)| Rights { owner, group, mode });
        objection(folder, database, ME, open).is_some()
    }

    #[test]
    fn the_folder_belongs_to_one_who_may_write_to_the_database() {
        let private = (OWNER, OWNER, 0o644);
        for (owner, refused) in [(ME, false), (0, false), (OWNER, false), (STRANGER, true)] {
            assert_eq!(is_refused((owner, owner, 0o755), private, false), refused, "{owner}");
        }
    }

    #[test]
    fn nobody_writes_to_the_folder_who_may_not_write_to_the_database() {
        let (private, shared) = ((ME, TEAM, 0o644), (ME, TEAM, 0o664));
        assert!(is_refused((ME, TEAM, 0o757), private, false), "everybody");
        assert!(is_refused((ME, TEAM, 0o777), (ME, TEAM, 0o666), false), "everybody, always");
        assert!(is_refused((ME, TEAM, 0o775), private, false), "a group that only reads");
        assert!(!is_refused((ME, TEAM, 0o775), shared, false), "the group of the database");
        assert!(is_refused((ME, OWNER, 0o775), shared, false), "another group");
    }

    #[test]
    fn a_group_that_shares_the_database_may_have_made_the_folder() {
        let shared = (ME, TEAM, 0o664);
        assert!(!is_refused((STRANGER, TEAM, 0o775), shared, false));
        assert!(is_refused((STRANGER, STRANGER, 0o755), shared, false), "not of the group");
        assert!(is_refused((STRANGER, TEAM, 0o775), shared, true), "where anybody makes folders");
    }

    /// A database and the folder beside it.
    fn place() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().expect("a folder");
        let database = place.path().join("e.db");
        fs::write(&database, "").expect("a file");
        (place, Folder::beside(&database))
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode is set");
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").mode() & 0o777
    }

    #[test]
    fn the_folder_is_as_open_as_the_database() {
        for (database, wanted) in
            [(0o600, 0o700), (0o640, 0o750), (0o660, 0o770), (0o644, 0o755), (0o666, 0o775)]
        {
            let (_place, folder) = place();
            set_mode(&folder.database, database);
            folder.make().expect("made");
            assert_eq!(mode_of(&folder.path), wanted, "{database:o}");
            folder.make().expect("found again");
        }
    }

    #[test]
    fn a_folder_that_everybody_may_write_to_is_refused_and_left_as_it_is() {
        let (_place, folder) = place();
        fs::create_dir(&folder.path).expect("made");
        set_mode(&folder.path, 0o777);
        let error = folder.make().expect_err("anybody could forge a death");
        assert!(error.to_string().contains("everybody may write to it"), "{error}");
        assert_eq!(mode_of(&folder.path), 0o777);
    }

    #[test]
    fn a_folder_that_an_open_umask_made_is_closed_to_the_group() {
        let (_place, folder) = place();
        set_mode(&folder.database, 0o644);
        fs::create_dir(&folder.path).expect("made");
        set_mode(&folder.path, 0o775);
        folder.make().expect("put right");
        assert_eq!(mode_of(&folder.path), 0o755);
    }

    #[test]
    fn only_the_folder_that_was_made_is_given_rights() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("e.db-candidates");
        let is_as_made = || is_as_made(&File::open(&path).expect("open")).expect("looks");
        rustix::fs::mkdir(&path, Mode::RWXU).expect("made");
        assert!(is_as_made());
        // Another candidate was quicker.
        for name in ["bell", "0123456789abcdef0123456789abcdef.draft"] {
            fs::write(path.join(name), "").expect("written");
        }
        assert!(is_as_made());
        set_mode(&path, 0o750);
        assert!(!is_as_made(), "somebody else's rights");
        set_mode(&path, 0o700);
        fs::write(path.join("diary"), "private").expect("written");
        assert!(!is_as_made(), "somebody else's files");
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_refused() {
        let (place, folder) = place();
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("made");
        symlink(&elsewhere, &folder.path).expect("linked");
        let error = folder.make().expect_err("it leads elsewhere");
        assert!(error.to_string().contains("it is a link"), "{error}");
    }

    #[test]
    fn links_pipes_and_files_with_two_names_are_not_written_to() {
        let (place, folder) = place();
        folder.make().expect("made");
        let victim = place.path().join("victim");
        fs::write(&victim, "precious").expect("written");
        symlink(&victim, folder.path.join("soft")).expect("linked");
        fs::hard_link(&victim, folder.path.join("hard")).expect("linked");
        rustix::fs::mkfifoat(CWD, folder.path.join("pipe"), Mode::RWXU).expect("a pipe");
        let open = folder.open().expect("open");
        for name in ["soft", "hard", "pipe"] {
            assert!(open.write(name).is_err(), "{name}");
        }
        assert!(open.read("soft").is_err());
        assert_eq!(fs::read_to_string(victim).expect("there"), "precious");
    }
}
