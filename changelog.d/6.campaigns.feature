Braze: campaigns are stored through the native API (`/v1/campaigns`) and sent by `/campaigns/trigger/send`, with individual properties for each recipient.
A `/messages/send` can be counted for a campaign.
