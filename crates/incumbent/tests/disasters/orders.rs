//! Operators depose leaders while the server dies and comes back.

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, Postgres};

use crate::judge::Memory;
use crate::server::Server;
use crate::support::until;
use crate::troupe::{BILLING, NAMES, Troupe};

pub(crate) async fn orders<S: Server>(protocol: Protocol) {
    let mut server = S::begin().await;
    let troupe = Troupe::of_three(&server, protocol).await;
    for restart in [false, true, false, true] {
        let past = troupe.leader(BILLING).await;
        let office = &troupe.candidates[(past.candidate + 1) % 3].backend;
        let reason = Some("a story");
        // An order that is lost may be given again: it names the term that it means.
        until("the order is carried out", async || {
            let order = office.demote(BILLING, Some(past.term), "operator", reason).await;
            order.is_ok() || troupe.log.led(BILLING).1.is_some_and(|last| last.term > past.term)
        })
        .await;
        if restart {
            server.kill();
            server.restart().await;
        }
        let past = troupe.succession(&past).await;
        let successor = NAMES[(past.candidate + 1) % 3];
        until("the order is carried out", async || {
            let order =
                office.takeover(BILLING, successor, Some(past.term), "operator", reason).await;
            order.is_ok() || troupe.log.led(BILLING).1.is_some_and(|last| last.term > past.term)
        })
        .await;
        if restart {
            server.kill();
            server.restart().await;
        }
        troupe.succession(&past).await;
    }
    let orders =
        "SELECT COUNT(*) FROM incumbent_term WHERE actor = 'operator' AND note = 'a story'";
    assert_ne!(server.sql(orders).await, "0", "no order was ever carried out");
    troupe.judge("orders", &server, Memory::Whole).await;
}

#[tokio::test]
async fn tokens_grow_over_orders_and_restarts_of_postgres() {
    orders::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn tokens_grow_over_orders_and_restarts_of_mariadb() {
    orders::<MariaDb>(Protocol::Lease).await;
}
