import HTTPTypes
import Model

/// The calls for one registration (docs/contracts/notificationhubs.md#5.1 to docs/contracts/notificationhubs.md#5.4). Each reads first, because deleted
/// registrations are gone and versions increase.
struct RegistrationRequest {
    /// Nil: the gateway generates the id.
    let id: String?
    let request: VendorRequest
    let settings: HubsSettings
    var access = HubAccess.full

    /// The decision about a call, by the registration that was found.
    enum Verdict: Hashable {
        /// `etag`: the new version; `expected`: the attributes that must still be stored.
        case write(etag: Int, expected: JSONObject?)
        /// 412: the caller's version is not the current one.
        case mismatch
        /// 410: deleted recently; the caller then requests a new id.
        case gone
        /// 404.
        case missing
    }

    /// - Throws: `AdapterError` with the text of the answer.
    func command() throws(AdapterError) -> Command {
        guard let id else {
            if request.method == .post, !isDraw { _ = try registration("-") }
            return .registration(.drawKey)
        }
        // Its key has two more characters than an id may have.
        guard Installation.isIdentifier(id) else {
            throw AdapterError(.invalid, field: "The registration id is not valid")
        }
        if request.method == .put { _ = try registration(id) }
        return .registration(.standing(key: Registration.key(id)))
    }

    /// Writes the data that was read; starts again if another call changed it in the meantime.
    ///
    /// - Throws: `AdapterError` for a body that `command` would refuse.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        switch replies.first {
        case .registration(.drawn(let key)) where !isDraw:
            let id = Registration.id(drawn: key.rawValue)
            return try writing(id, etag: 1, expected: nil)
        case .registration(.standing(let standing)):
            guard let id, request.method != .get, replies.count == 1 else { return [] }
            guard case .write(let etag, let expected) = verdict(on: standing) else { return [] }
            guard request.method == .delete else {
                let stored = standing.flatMap { Registration(id: id, $0) }
                return try writing(id, etag: etag, expected: expected, over: stored)
            }
            let key = Registration.key(id)
            return [
                Registration.tombstone(id, at: request.receivedAt, expected: expected ?? JSONObject()),
                .registration(.unregister(.key(key))),
            ]
        case .refused(.outdated):
            return id.map { [.registration(.standing(key: Registration.key($0)))] } ?? []
        default: return []  // finished, or refused permanently
        }
    }

    func verdict(on standing: IdentityStanding?) -> Verdict {
        guard let standing, let etag = Registration.etag(standing) else {
            if isLately(standing) { return request.method == .delete ? .missing : .gone }
            return request.method == .delete || wanted != nil ? .missing : .write(etag: 1, expected: nil)
        }
        if let wanted, wanted != "*", wanted != "\(etag)" { return .mismatch }
        // The addition can only overflow if the stored version was not written by this adapter.
        return .write(etag: etag &+ 1, expected: standing.attributes)
    }

    /// Whether it was deleted within a day (docs/contracts/notificationhubs.md#5.2).
    private func isLately(_ standing: IdentityStanding?) -> Bool {
        guard let standing, standing.state != .active, let removed = standing.attributes["removedAt"]?.int else {
            return false
        }
        return Timestamp(milliseconds: removed) + HubsLimits.goneFor > request.receivedAt
    }

    /// Whether the call only requests a new id.
    private var isDraw: Bool { HubPath(request.path)?.call == .registrationIDs }

    /// The caller's version: `"1"`, `W/"1"` or `*`; nil: the caller names none.
    private var wanted: String? {
        guard let text = request.header("If-Match"), !text.isEmpty else { return nil }
        return String(text.hasPrefix("W/") ? text.dropFirst(2) : text[...]).replacing("\"", with: "")
    }

    /// - Throws: `AdapterError` for an invalid body, and for tags that the caller may not set.
    private func registration(_ id: String) throws(AdapterError) -> Registration {
        let registration = try Registration(id: id, xml: request.body, at: request.receivedAt)
        guard access.setsTags || registration.tags.isEmpty else { throw HubAccess.refusal }
        return registration
    }

    private func writing(_ id: String, etag: Int, expected: JSONObject?, over stored: Registration? = nil)
        throws(AdapterError) -> [Command]
    {
        var registration = try registration(id)
        registration.etag = etag
        if !access.setsTags, let stored, !stored.tags.isEmpty {
            // A caller that may not set tags keeps them, and does not move the pushes to another token.
            guard registration.token == stored.token else { throw HubAccess.refusal }
            registration.tags = stored.tags
        }
        return [
            registration.command(settings, expected: expected),
            .registration(.standing(key: Registration.key(id))),
        ]
    }
}
