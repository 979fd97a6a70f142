"""Rules about logins and about answers that demand credentials."""
