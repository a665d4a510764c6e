//! Dropping it resigns it, so whoever does not keep it does not lead.
#![deny(unused_must_use)]

fn main() {}

async fn lead(election: &incumbent::Election) -> Result<(), incumbent::Error> {
    election.campaign().await?;
    Ok(())
}

fn lead_blocking(election: &incumbent::blocking::Election) -> Result<(), incumbent::Error> {
    election.campaign()?;
    Ok(())
}
