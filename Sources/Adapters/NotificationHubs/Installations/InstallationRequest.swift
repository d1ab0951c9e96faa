import HTTPTypes
import Model

/// The calls for one installation (docs/contracts/notificationhubs.md#4.1 to docs/contracts/notificationhubs.md#4.4).
struct InstallationRequest {
    let id: String
    let request: VendorRequest
    let settings: HubsSettings
    let access: HubAccess

    /// - Throws: `AdapterError` with the text of the answer.
    func command() throws(AdapterError) -> Command {
        guard Installation.isIdentifier(id) else {
            throw AdapterError(.invalid, field: "The installation id is not valid")
        }
        switch request.method {
        case .put:
            let installation = try installation(try object())
            guard !access.setsTags else { return installation.command(settings, access, client: client, expected: nil) }
            guard !installation.hasAddress else { throw HubAccess.refusal }
            return .registration(.standing(key: VendorDeviceKey(id)))
        case .patch:
            _ = try changes()
            return .registration(.standing(key: VendorDeviceKey(id)))
        case .delete: return .registration(.unregister(.key(VendorDeviceKey(id))))
        // `HubsCall.methods` permits only GET here.
        default: return .registration(.standing(key: VendorDeviceKey(id)))
        }
    }

    /// A patch reads, changes and writes the installation; it starts again if another call changed it in the meantime. So does a PUT that may not
    /// change the user and the tags.
    ///
    /// - Throws: `AdapterError` if the changes do not fit the installation, or the caller may not make them.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        switch replies.first {
        case .registration(.standing(let standing)) where request.method == .put:
            var installation = try installation(try object())
            let found = standing.flatMap { Installation(id: id, $0, at: request.receivedAt) }
            if let found { try installation.keepAddress(of: found) }
            let expected = standing?.state == .active ? standing?.attributes : nil
            return [installation.command(settings, access, client: client, expected: expected)]
        case .registration(.standing(let standing?)):
            guard let found = Installation(id: id, standing, at: request.receivedAt) else { return [] }
            var body = found.body
            for change in try changes() { try change.apply(to: &body) }
            var changed = try installation(body)
            if !access.setsTags {
                guard changed.hasAddress(of: found) else { throw HubAccess.refusal }
                try changed.keepAddress(of: found)
            }
            return [changed.command(settings, access, client: client, expected: standing.attributes)]
        case .refused(.outdated): return [.registration(.standing(key: VendorDeviceKey(id)))]
        default: return []  // finished, or refused permanently
        }
    }

    /// The facts that the caller's SDK reports. A key with the manage right is a back end's, whose system is not the device's.
    private var client: ClientFacts {
        access.manages ? ClientFacts() : HubsAgent.client(request.headers[.userAgent])
    }

    /// - Throws: `AdapterError` for an invalid installation, and for another user than the caller's token names.
    private func installation(_ body: JSONObject) throws(AdapterError) -> Installation {
        let installation = try Installation(id: id, body)
        if let user = access.user, let named = installation.user, named != user { throw HubAccess.refusal }
        return installation
    }

    private func object() throws(AdapterError) -> JSONObject {
        guard let object = try json().object else {
            throw AdapterError(.unreadable, field: "The body is not an object")
        }
        return object
    }

    private func changes() throws(AdapterError) -> [InstallationChange] {
        guard let list = try json().array else { throw AdapterError(.unreadable, field: "The patch is not an array") }
        guard list.count <= HubsLimits.changeCount else {
            throw AdapterError(.invalid, field: "There may be at most \(HubsLimits.changeCount) changes")
        }
        var changes: [InstallationChange] = []
        for element in list { changes.append(try InstallationChange(element)) }
        return changes
    }

    private func json() throws(AdapterError) -> JSON {
        do throws(JSONError) {
            return try JSONParser.parse(request.body)
        } catch {
            throw AdapterError(.unreadable, field: "The body is not JSON")
        }
    }
}
