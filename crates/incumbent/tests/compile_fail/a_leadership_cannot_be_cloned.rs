//! Two of them could disagree about who must stop.

fn main() {}

fn twice(leadership: &incumbent::Leadership) -> (incumbent::Leadership, incumbent::Leadership) {
    (leadership.clone(), leadership.clone())
}
