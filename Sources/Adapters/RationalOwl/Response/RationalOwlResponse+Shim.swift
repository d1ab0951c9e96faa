import Model

/// The answers of the gateway's own calls (docs/contracts/rationalowl.md#7.4).
extension RationalOwlResponse {
    func shim(_ reply: Reply) -> VendorResponse {
        switch (endpoint, reply) {
        case (.deviceRegister, .registration(.registered(let device))):
            .json(
                .pairs([
                    "rc": .int(device.wasActive ? Self.alreadyRegistered : 1), "dRId": .string(device.key.rawValue),
                ])
            )
        case (.deviceToken, .registration(.tokenUpdated)), (.deviceUnregister, .registration(.unregistered)),
            (.deviceUnregister, .refused(.unknownDevice)), (.notiDelivered, .receipt), (.notiOpened, .receipt):
            .json(.pairs(["rc": 1]))
        case (.deviceState, .inbox(.undelivered(let entries))): .json(state(entries))
        default: mismatch()  // a reply to another call's command
        }
    }

    func shimError(_ error: RationalOwlError) -> JSON {
        .pairs(["rc": .int(error.code.rawValue), "cmt": .string(error.comment)])
    }

    /// The SDK's own code for "already registered", which it treats as success. Source: read-me of the Flutter binding
    /// (docs/contracts/rationalowl.md#7.1).
    private static let alreadyRegistered = -122

    /// Only the answer to `active` contains the list.
    private func state(_ entries: [InboxEntry]) -> JSON {
        guard (try? fields.text("state")) == "active" else { return .pairs(["rc": 1]) }
        return .pairs(["rc": 1, "undelivered": .array(entries.map(undelivered))])
    }

    /// One element of the SDK's list of undelivered pushes (docs/contracts/rationalowl.md#6.6): the custom keys as JSON text.
    private func undelivered(_ entry: InboxEntry) -> JSON {
        let keys = CustomKeys(entry.notification, title: entry.notification.content.title ?? "")
        return .pairs([
            "sender": .string(entry.sender?.rawValue ?? settings.serverRegistrationID ?? ""),
            "serverTime": .int(entry.notification.sentAt.milliseconds),
            "data": .string(JSONWriter.text(.object(keys.object))),
        ])
    }
}
