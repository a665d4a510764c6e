//! Lists of nodes, as people write them.

use super::*;

fn addresses(list: &str) -> Vec<String> {
    let seats = Peers::parse(list).expect("a list").into_seats();
    seats.into_iter().map(|seat| seat.address).collect()
}

#[test]
fn all_ways_to_name_a_node_can_stand_in_one_list() {
    let list = "10.0.0.1:7600, 7@10.0.0.2:7601,10.0.1.1-3:7600,[::1]:7600,nodes.example,8@[::2]";
    let peers = Peers::parse(list).expect("a list");
    let seats: Vec<_> = peers.seats().iter().map(|s| (s.id, s.address.as_str())).collect();
    let digest = |address| (NodeId::of_address(address), address);
    assert_eq!(
        seats,
        [
            digest("10.0.0.1:7600"),
            (NodeId::given(7), "10.0.0.2:7601"),
            digest("10.0.1.1:7600"),
            digest("10.0.1.2:7600"),
            digest("10.0.1.3:7600"),
            digest("[::1]:7600"),
            digest("nodes.example:7600"),
            (NodeId::given(8), "[::2]:7600"),
        ]
    );
}

#[test]
fn two_spellings_of_one_address_give_one_number() {
    assert_eq!(addresses("[0:0::1]:7600"), ["[::1]:7600"]);
    assert_eq!(addresses("Nodes.EXAMPLE"), ["nodes.example:7600"]);
    assert!(matches!(Peers::parse("[::1],[0::1]:7600"), Err(AddressError::Address(_))));
}

#[test]
fn a_range_goes_up_to_a_whole_network() {
    assert_eq!(addresses("10.0.1.0-255").len(), 256);
    assert_eq!(addresses("10.0.1.9-9"), ["10.0.1.9:7600"]);
    assert_eq!(Peers::parse("10.0.1.0-255,10.0.2.1"), Err(AddressError::Many));
    // A name may hold a hyphen, and digits.
    assert_eq!(addresses("node-1.example:1,db1-2:1"), ["node-1.example:1", "db1-2:1"]);
}

#[test]
fn one_address_or_number_twice_is_refused() {
    let error = Peers::parse("a:1,b:1,a:1").expect_err("twice");
    assert_eq!(error, AddressError::Address("a:1".to_owned()));
    let error = Peers::parse("7@a:1,7@b:1").expect_err("twice").to_string();
    assert!(error.contains("a:1 and b:1") && error.contains("number 7"), "{error}");
    assert!(matches!(Peers::parse("10.0.0.1-3,10.0.0.2"), Err(AddressError::Address(_))));
}

#[test]
fn whatever_is_no_list_is_refused_with_what_is_expected() {
    for (list, problem) in [
        ("a:1,", "no host"),
        ("a:0", "port"),
        ("a:+1", "port"),
        ("a:65536", "port"),
        ("a:", "port"),
        ("::1:7600", "brackets"),
        ("[::1", "not closed"),
        ("[::1]7600", "colon"),
        ("[10.0.0.1]:7600", "no IPv6"),
        ("10.0.0.256", "no IPv4"),
        ("10.0.0", "no IPv4"),
        ("10.0.0.9-3", "range"),
        ("10.0.0.1-256", "range"),
        ("10.0.0.300-301", "range"),
        ("7@10.0.0.1-3:7600", "one number"),
        ("x@10.0.0.1", "decimal number"),
        ("@a:1", "decimal number"),
        ("-a:1", "no name"),
        ("a b:1", "no name"),
        (":1", "no host"),
        ("a/b:1", "no name"),
    ] {
        let error = Peers::parse(list).expect_err(list).to_string();
        assert!(error.contains(problem) && error.contains("10.0.1.1-20:7600"), "{list}: {error}");
    }
    assert_eq!(Peers::parse("  "), Err(AddressError::Empty));
}
