"""What happened when: deploys and campaigns, which charts mark (contract 6)."""
