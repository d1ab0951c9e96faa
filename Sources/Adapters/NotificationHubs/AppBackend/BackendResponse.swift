import HTTPTypes
import Model

/// Writes the answers of the tutorial's back end, which is an ASP.NET site. Assumed: the body of an error, `{"Message": …}`.
struct BackendResponse {
    let path: BackendPath
    let request: VendorRequest

    func answer(_ replies: [Reply], settings: HubsSettings) -> VendorResponse {
        guard let reply = replies.last else { return failure(HubsError(.unavailable(retryAfter: nil))) }
        let first = replies.first { if case .refused = $0 { true } else { false } }
        if case .refused(.unauthorized)? = first { return failure(AdapterError(.unauthorized)) }
        if case .refused(let refusal)? = first { return failure(error(refusal)) }
        switch (path.call, reply) {
        case (.register, .registration(.drawn(let key))): return text(Registration.id(drawn: key.rawValue))
        case (.register, .registration(.listed(let found))):
            let user = try? BackendUser(request, settings: settings)
            guard let id = user.flatMap({ BackendRequest.ids(found, of: $0).first }) else { break }
            return text(id)
        case (.registration, .registration(.registered)), (.registration, .registration(.unregistered)),
            (.notifications, .submission(.accepted)), (.notifications, .submission(.numbered)):
            return response(200)
        case (.registration(let id), .registration(.standing(let standing))):
            // A deletion succeeds if the registration does not exist.
            guard request.method == .put else { return response(200) }
            // Assumed: another user's registration counts as deleted, so that the app of a new user requests an id of its own.
            let user = try? BackendUser(request, settings: settings)
            guard let user, BackendRequest.belongs(standing, to: user) else { return failure(HubsError(410, "Gone")) }
            let known = RegistrationRequest(id: id, request: request, settings: settings)
            return failure(known.verdict(on: standing) == .gone ? HubsError(410, "Gone") : HubsError(.outdated))
        case (.notification, .media(.bytes(let bytes, let type))):
            // The bytes are a customer's upload: only detected images are served, and browsers must not interpret them as another type.
            return response(200, [("Content-Type", type), ("X-Content-Type-Options", "nosniff")], bytes)
        default: break  // a reply to another call
        }
        return failure(HubsError(.unavailable(retryAfter: nil)))
    }

    private func error(_ refusal: Refusal) -> HubsError {
        switch refusal {
        case .unknownMedia, .unknownBinding: HubsError(404, "Not found")
        default: HubsError(refusal)
        }
    }

    func failure(_ error: AdapterError) -> VendorResponse {
        switch error.code {
        case .unauthorized:
            let realm = ("WWW-Authenticate", "Basic realm=\"AppBackend\"")
            return response(401, [Self.type, realm], Self.message("Name or password are wrong"))
        case .notFound: return failure(HubsError(404, "Not found"))
        default: return failure(HubsError(error))
        }
    }

    private func failure(_ error: HubsError) -> VendorResponse {
        var extra = [Self.type]
        if let after = error.retryAfter { extra.append(("Retry-After", "\(after)")) }
        return response(error.status, extra, Self.message(error.text))
    }

    private static let type = ("Content-Type", "application/json; charset=utf-8")

    private static func message(_ text: String) -> [UInt8] { JSONWriter.bytes(["Message": .string(text)]) }

    /// Includes quotes: the app's client removes the first and the last character (docs/contracts/notificationhubs.md#10.2).
    private func text(_ text: String) -> VendorResponse {
        response(200, [Self.type], JSONWriter.bytes(.string(text)))
    }

    private func response(_ status: Int, _ headers: [(String, String)] = [], _ body: [UInt8] = []) -> VendorResponse {
        var fields = HTTPFields()
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        return VendorResponse(status: status, headers: fields, body: body)
    }
}
