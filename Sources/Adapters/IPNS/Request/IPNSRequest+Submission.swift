import Model

/// The send call of back ends (docs/contracts/ipns.md#2.11).
extension IPNSRequest {
    /// The message and its audience. Whether a reservation is in the past is checked later, because this type has no clock.
    ///
    /// - Throws: `AdapterError` naming the invalid field.
    func submission() throws(AdapterError) -> Submission {
        let alert = try fields.content(.alert, limit: IPNSLimits.alertBytes)
        guard let alert else { throw fields.missing(.alert) }
        var content = Content(
            title: try fields.content(.title, limit: IPNSLimits.titleBytes),
            body: alert,
            badge: try badge(),
            sound: try fields.text(.sound)
        )
        if let message = try fields.content(.message, limit: IPNSLimits.messageBytes) {
            content.data[IPNSPayload.messageKey] = .string(message)
        }
        let recipients = try fields.list(.pushID)
        var submission = Submission(
            content: content,
            audience: try audience(recipients),
            timing: SubmissionTiming(dueAt: try reservation()),
            // Assumed: PRIORITY does not override the user's receiving window (docs/contracts/ipns.md#2.6).
            lane: recipients.count == 1 ? .transactional : .bulk,
            idempotencyKey: try repeatKey()
        )
        submission.naming = .aliases
        submission.omitsUnknown = true
        return submission
    }

    private func audience(_ recipients: [String]) throws(AdapterError) -> Audience {
        switch try fields.required(.pushIDType) {
        case "@00": .listed(recipients.map { Addressee(.deviceKey(VendorDeviceKey($0))) })
        case "@01": .users(recipients.map { UserID($0) })
        default: throw fields.invalid(.pushIDType)
        }
    }

    private func badge() throws(AdapterError) -> Int? {
        guard let badge = try fields.integer(.badge) else { return nil }
        guard (0...Int64(Int32.max)).contains(badge) else { throw fields.invalid(.badge) }
        return Int(badge)
    }

    /// `I`: now; `R`: at `RESV_DATE`.
    private func reservation() throws(AdapterError) -> Timestamp? {
        switch try fields.text(.sendType)?.uppercased() {
        case nil, "I": return nil
        case "R":
            guard let time = WireTime.parse(try fields.required(.reserved)) else { throw fields.invalid(.reserved) }
            return time
        case .some: throw fields.invalid(.sendType)
        }
    }

    /// At most `identifierBytes` of printable ASCII, as in a header value.
    private func repeatKey() throws(AdapterError) -> String? {
        guard let key = idempotencyKey, !key.isEmpty else { return nil }
        guard key.utf8.count <= IPNSLimits.identifierBytes, key.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw AdapterError(.invalid, field: "Idempotency-Key")
        }
        return key
    }
}
