The API and the console show when the secret of a credential was stored (`storedAt`).
