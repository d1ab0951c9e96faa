A device that was imported without a key stays on its side of a rollout `by: device` when the app registers it: deliveries and sends that name it use its first key.
