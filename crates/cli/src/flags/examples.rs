//! Examples for the end of each help page.
//!
//! Assumes: nothing.
//! Promises: every example is a command line that this program accepts.

pub(super) const ALL: &str = "\
Examples:
  incumbent run -- ./scheduler            run it on whichever host leads
  incumbent doctor                        can elections be held here?
  incumbent demo                          see a failover in ten seconds";

pub(super) const RUN: &str = "\
Standard input and output belong to the command; what happens is told on standard error. The
command finds its election, token and name in INCUMBENT_ELECTION, INCUMBENT_TOKEN and
INCUMBENT_NAME, with --slots also its number in INCUMBENT_SLOT. When the leadership is lost it gets
TERM, then KILL, and is gone before the lease ends, together with everything that it started,
daemons included.

Examples:
  incumbent run -- ./scheduler
  incumbent run --election billing --lease 5s -- ./ledger --verbose
  incumbent run --once --wait 30s -- ./migrate
  incumbent run --restart on-failure --restart-limit 10 -- ./scheduler
  incumbent run --on-loss kill -- ./writer
  incumbent run --election workers --slots 3 -- ./worker
  incumbent run --health 'test -w /var/lib/app' --health-every 2s -- ./writer
  incumbent run --metrics 127.0.0.1:9464 -v --log-format json -- ./scheduler
  incumbent run --priority 10 --preempt-after 1m -- ./scheduler
  incumbent run --rolling --label version=1.4.2 --drain 30s -- ./scheduler
  incumbent run --protocol rounds --address 10.0.0.7:80 --label zone=a -- ./scheduler
  INCUMBENT_URL=postgres://app:secret@db/app incumbent run -- ./scheduler
  incumbent run --url 'mysql://app@db/app?ssl-mode=verify_identity' -- ./scheduler
  incumbent run --url bully://10.0.0.1,10.0.0.2,10.0.0.3 --secret-file /etc/app/secret -- ./scheduler";

pub(super) const STATUS: &str = "\
Exits with 0 if somebody leads, with 1 if nobody does; with --all, with 0 if every election is led.

Examples:
  incumbent status
  incumbent status billing
  incumbent status --all --json";

pub(super) const MEMBERS: &str = "\
By rounds also the place in line of each, first in line first. Exits with 0 if somebody leads, with
1 if nobody does.

Examples:
  incumbent members
  incumbent members billing --gone --url postgres://app@db/app
  incumbent members --json | jq '.members[] | select(.position == \"second\") | .address'";

pub(super) const WATCH: &str = "\
Examples:
  incumbent watch billing
  incumbent watch --json | while read -r change; do notify \"$change\"; done";

pub(super) const HISTORY: &str = "\
Exits with 1 if nobody ever led.

Examples:
  incumbent history billing --limit 5
  incumbent history --json";

pub(super) const EXPLAIN: &str = "\
Says everything that keeps a candidate from leading, what weighs most first: it is gone, not well,
paused, cordoned, held off; somebody leads, is preferred, or is before it in line. Exits with 1 if
the candidate or the election was never seen.

Examples:
  incumbent explain host-2
  incumbent explain host-2 billing
  incumbent explain --election billing
  incumbent explain host-2 --json";

pub(super) const TRANSFER: &str = "\
The leader keeps leading until its work has ended, at most for as long as --drain says; then it
lets go for the named candidate. At the end of --drain the term is ended as by a takeover. If the
leader's process is gone, the next term is reserved at once. A candidate that is cordoned, not well
or not running is refused.

Examples:
  incumbent transfer --to host-2 --reason 'host-1 is due for repair'
  incumbent transfer --to host-2 --drain 30s --wait-for 1m";

pub(super) const DEMOTE: &str = "\
The old leader cannot renew from then on. It may act until it lets go or its lease runs out, and
nobody leads before. It holds off for one lease, or for --hold-off, and may win again after that.

Examples:
  incumbent demote billing --reason 'stuck'
  incumbent demote --hold-off 30s
  incumbent demote --term 1762938412000000 --wait-for 10s";

pub(super) const TAKEOVER: &str = "\
Does not wait for the work of the old leader: use `transfer` for that. The old leader cannot renew
from then on. It may act until it lets go or its lease runs out, and nobody leads before. The named
candidate then has one lease to take the term. Asks before it changes anything.

Examples:
  incumbent takeover host-2 --dry-run
  incumbent takeover host-2 billing --reason 'host-1 hangs'
  incumbent takeover host-2 --yes --wait-for 10s";

pub(super) const PAUSE: &str = "\
Whoever leads goes on and renews. Once it ends, nobody follows until the election is resumed.

Examples:
  incumbent pause billing --reason 'restoring the database'
  incumbent pause --all";

pub(super) const RESUME: &str = "\
Examples:
  incumbent resume billing
  incumbent resume --all --reason 'restored'";

pub(super) const CORDON: &str = "\
If the candidate leads, it goes on: `transfer` moves its leadership away, `demote` ends it. A
cordon is by name, and stays when the candidate is started again.

Examples:
  incumbent cordon host-1 --reason 'due for repair'
  incumbent cordon host-1 --all";

pub(super) const UNCORDON: &str = "\
Ends a hold-off too.

Examples:
  incumbent uncordon host-1
  incumbent uncordon host-1 --all";

pub(super) const FORGET: &str = "\
Removes the election with its past terms, its orders (a cordon too) and its list of candidates. Stop its
candidates first: it is refused while the election is led or paused, or while candidates take part.
Watches the election for one lease, so that no old leader can still act, and asks before that. An
election of that name can be held again at any time; its tokens go on growing.

Examples:
  incumbent forget billing
  incumbent forget billing --yes --reason 'moved to another database'";

pub(super) const VOTERS: &str = "\
Voters are changed one at a time, and a majority of them must be up for it. Whoever is added must be
running; it may contend before. A voter that lost its file is removed and added again. Exits with 0
if a majority of the voters can be reached.

Examples:
  incumbent voters --url bully://10.0.0.1,10.0.0.2,10.0.0.3 --secret-file /etc/app/secret
  incumbent voters add 10.0.0.4:7600
  incumbent voters remove 10.0.0.1:7600
  incumbent voters --json | jq -r '.voters[] | select(.up | not) | .address'";

pub(super) const SECRET: &str = "\
All peers need the same one; whoever knows it is one of them. Keep it in a file that nobody else can
read, and name the file by --secret-file, or give the secret itself in INCUMBENT_SECRET.

Examples:
  incumbent secret
  (umask 077 && incumbent secret > /etc/app/secret)
  incumbent run --secret-file /etc/app/secret --url ring://10.0.0.1,10.0.0.2,10.0.0.3 -- ./scheduler
  INCUMBENT_SECRET=$(incumbent secret) docker compose up";

pub(super) const SCHEMA: &str = "\
In an SQLite file, tables are made by themselves when a candidate first opens it. In a database
server they are made once, by a user that may create tables; candidates need only what --grants
gives.

Examples:
  incumbent schema
  incumbent schema --apply --url sqlite:///var/lib/app/elections.db
  INCUMBENT_URL=postgres://owner:secret@db/app incumbent schema --apply
  incumbent schema --grants app --url postgres://db/app
  incumbent schema --grants app@10.0.0.% --url mysql://db/app";

pub(super) const DOCTOR: &str = "\
Elections that run meanwhile are not disturbed. The settings that candidates will use belong on the
command line too: what is too slow for one lease may do for another. Exits with 0 if elections can
be held, warnings or not; with 1 if something is refused; with 125 if the store does not answer.

Examples:
  incumbent doctor
  incumbent doctor --json --lease 5s
  incumbent doctor --protocol rounds --round-time 1s
  INCUMBENT_URL=postgres://app:secret@db/app incumbent doctor
  incumbent doctor --url 'mysql://app@node-1/app?galera=single-writer'
  incumbent doctor --url ring://10.0.0.1,10.0.0.2,10.0.0.3 --secret-file /etc/app/secret";

pub(super) const DEMO: &str = "\
Everything happens in a temporary folder that is removed at the end. Of the shared options, --lease,
--margin, --expiry, --json and those of the protocol matter. Exits with 0 only if every promise was
kept.

Examples:
  incumbent demo
  incumbent demo --json --lease 1s
  incumbent demo --protocol rounds
  incumbent demo --protocol bully";

pub(super) const BENCH: &str = "\
Examples:
  incumbent bench failover
  incumbent bench failover --protocol rounds --candidates 3,50,200 --kills 20 --plot failover.svg";

pub(super) const BENCH_FAILOVER: &str = "\
Candidates are processes of their own on this host, in an election that nobody else uses; its rows
are deleted at the end. Without --url they meet in a private SQLite file, or by ring or bully among
themselves. Everybody joins, the round
time comes to rest, then the leader is killed without warning, again and again, and another candidate
takes the place of the dead. A time is from the kill until the new leader's own process knows that it
leads. On PostgreSQL each candidate needs two connections. Exits with 0 if everything was measured.

Examples:
  incumbent bench failover
  incumbent bench failover --candidates 5 --kills 50 --lease 1s --json
  incumbent bench failover --protocol bully --candidates 3,25
  incumbent bench failover --protocol rounds --round-time 2s --round-delta 50ms --stable-for 3m
  INCUMBENT_URL=postgres://app:secret@db/app incumbent bench failover --protocol rounds \\
    --candidates 3,50,200,500 --per-process 50 --kills 20 --plot failover.svg";

pub(super) const AUDIT: &str = "\
Exits with 0 if no promise was broken, with 1 if one was, with 2 if a file cannot be read, with 3 if
none was found broken but leases on different clocks could not be compared.

Examples:
  incumbent run --history /var/log/app/history.jsonl -- ./scheduler
  incumbent audit /var/log/app/history.jsonl";

pub(super) const COMPLETIONS: &str = "\
Examples:
  incumbent completions bash > ~/.local/share/bash-completion/completions/incumbent
  incumbent completions fish > ~/.config/fish/completions/incumbent.fish";
