import HTTPTypes
package import Model

/// The facts that the vendor's answers to proxied calls establish (docs/routing.md#observation).
extension HubsAdapter {
    /// The caller's signature has been checked before the call left (`admit`), as in a call that the gateway serves.
    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] {
        guard (200...299).contains(response.status), let path = try? HubsRequest.path(of: request) else { return [] }
        // The rights of the caller's key limit what the call may store.
        let guarded = HubGuard(settings: HubsSettings(settings), path: path)
        guard let access = try? guarded.check(request) else { return [] }
        let observation = HubsObservation(request, response, HubsSettings(settings), access)
        switch path.call {
        case .installation where request.method != .get: return (try? decode(request, settings: settings)) ?? []
        case .registrations where request.method == .post: return observation.registration(nil)
        case .registration(let id) where request.method == .put: return observation.registration(id)
        case .registration(let id) where request.method == .delete:
            return [.registration(.unregister(.key(Registration.key(id))))]
        case .messages, .batch, .schedules:
            let commands = (try? decode(request, settings: settings)) ?? []
            let references = observation.references
            // Handles that are unknown here are not registered: nothing is sent to them.
            return commands.observing { ObservedMessage($0, references: references) }.filter { command in
                if case .submission = command { true } else { false }
            }
        // Reads, IDs without a registration, and jobs.
        case .installation, .registrations, .registration, .registrationIDs, .message, .schedule, .tagged, .later:
            return []
        }
    }

    /// The ID in the path of a notification, or of a scheduled one.
    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? {
        guard let path = try? HubsRequest.path(of: request) else { return nil }
        switch path.call {
        case .message(let text), .schedule(let text): return HubMessageID.parse(text)?.description ?? text
        case .installation, .messages, .batch, .schedules, .registrationIDs, .registrations, .registration, .tagged,
            .later:
            return nil
        }
    }
}

/// One call with the vendor's answer.
struct HubsObservation {
    private let request: VendorRequest
    private let response: VendorResponse
    private let settings: HubsSettings
    private let access: HubAccess

    init(_ request: VendorRequest, _ response: VendorResponse, _ settings: HubsSettings, _ access: HubAccess) {
        self.request = request
        self.response = response
        self.settings = settings
        self.access = access
    }

    /// The registration of the call, with the ID and the version of the answer.
    ///
    /// - Parameter id: that of the path; nil: the vendor has drawn one.
    /// - Returns: empty if no ID is known, if the description cannot be read, or if it has tags that the caller may not set here: tags choose who receives a push.
    func registration(_ id: String?) -> [Command] {
        let answer = try? XMLReader.read(response.body)
        guard let id = id ?? answer.flatMap({ Self.text("RegistrationId", in: $0) }), Installation.isIdentifier(id),
            var registration = try? Registration(id: id, xml: request.body, at: request.receivedAt),
            access.setsTags || registration.tags.isEmpty
        else { return [] }
        registration.etag = answer.flatMap { Self.text("ETag", in: $0) }.flatMap { Int($0) } ?? 1
        return [registration.command(settings, expected: nil)]
    }

    /// The IDs of a notification: the last part of its location, and the ID by which the vendor's support finds the call.
    var references: [String] {
        let all = HubsOutcome(response).references
        return all.map { HubMessageID.parse($0)?.description ?? $0 }
    }

    /// The text of the first element with a name. `XMLReader` limits depth and number of elements.
    private static func text(_ name: String, in root: XMLElement) -> String? {
        var waiting = [root]
        while let element = waiting.popLast() {
            if element.name == name, !element.text.isEmpty { return element.text }
            waiting += element.children.reversed()
        }
        return nil
    }
}
