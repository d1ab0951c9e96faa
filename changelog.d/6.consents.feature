Consents of users: Braze's `/subscription` calls and `subscription_groups`, `recipient_subscription_state` of sends and campaigns, `/v1/apps/{app}/consents`, and `consent` of native messages.
