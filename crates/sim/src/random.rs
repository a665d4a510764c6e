//! Chance, drawn from a seed and from nothing else.
//!
//! Assumes: nothing.
//! Promises: the same seed gives the same numbers on every machine; no floating point is involved.
//! Not for secrets.

/// A source of numbers: `SplitMix64`, which is small, fast and good enough to shake a world with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

/// One million: chances are given in parts of it.
pub const MILLION: u32 = 1_000_000;

impl Random {
    /// The source that belongs to a seed.
    pub const fn from_seed(seed: u64) -> Self {
        Random { state: seed }
    }

    /// Another source that shares nothing with this one, so that drawing more of one thing does not
    /// shift another.
    #[must_use]
    pub fn fork(&mut self) -> Random {
        Random { state: self.next() }
    }

    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.state;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next 128 bits.
    pub fn next_wide(&mut self) -> u128 {
        (u128::from(self.next()) << 64) | u128::from(self.next())
    }

    /// A number below `limit`, or zero if that is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// A number from `least` to `most` of which each doubling is equally likely: small ones often,
    /// large ones too.
    pub fn spread(&mut self, least: u64, most: u64) -> u64 {
        let least = least.max(1);
        let most = most.max(least);
        let doublings = u64::from((most / least).ilog2());
        let low = least << self.between(0, doublings);
        self.between(low, low.saturating_mul(2).min(most).max(low))
    }

    /// A number from `-most` to `most`.
    pub fn around_zero(&mut self, most: u64) -> i64 {
        let most = most.min(u64::from(u32::MAX) << 16);
        let drawn = self.between(0, most * 2);
        drawn.cast_signed() - most.cast_signed()
    }

    /// Yes, so many times in a million.
    pub fn chance(&mut self, in_a_million: u32) -> bool {
        self.below(u64::from(MILLION)) < u64::from(in_a_million)
    }

    /// Yes, so many times in a hundred.
    pub fn percent(&mut self, in_a_hundred: u32) -> bool {
        self.chance(in_a_hundred * (MILLION / 100))
    }

    /// An index into something of that length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut two) = (Random::from_seed(7), Random::from_seed(7));
        assert!((0..100).all(|_| one.next() == two.next()));
        assert_ne!(Random::from_seed(7).next(), Random::from_seed(8).next());
    }

    #[test]
    fn numbers_keep_to_their_limits_and_reach_them() {
        let mut random = Random::from_seed(1);
        let drawn: Vec<u64> = (0..1_000).map(|_| random.between(3, 5)).collect();
        assert!(drawn.iter().all(|n| (3..=5).contains(n)));
        assert!([3, 4, 5].iter().all(|n| drawn.contains(n)));
        assert!((0..1_000).all(|_| (10..=1_000).contains(&random.spread(10, 1_000))));
        assert!((0..1_000).all(|_| random.around_zero(4).abs() <= 4));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_chance_comes_about_as_often_as_it_says() {
        let mut random = Random::from_seed(2);
        let hits = (0..10_000).filter(|_| random.percent(25)).count();
        assert!((2_200..2_800).contains(&hits), "{hits}");
    }
}
