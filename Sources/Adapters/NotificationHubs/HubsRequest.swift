import HTTPTypes
import Model

/// Decodes a call to commands: a call of the data plane if its signature permits it, or a call of the tutorials' back end.
struct HubsRequest {
    private let request: VendorRequest
    private let settings: HubsSettings

    init(_ request: VendorRequest, _ settings: BindingSettings) {
        self.request = request
        self.settings = HubsSettings(settings)
    }

    /// - Throws: `AdapterError` if the caller may not make the call, or a field is invalid.
    func commands() throws(AdapterError) -> [Command] {
        if let path = try Self.backend(request) {
            return try BackendRequest(path: path, request: request, settings: settings).commands()
        }
        let path = try Self.path(of: request)
        let access = try HubGuard(settings: settings, path: path).check(request)
        try APIVersion.check(request)
        switch path.call {
        case .installation(let id):
            return [try InstallationRequest(id: id, request: request, settings: settings, access: access).command()]
        case .messages: return try SendRequest(request, settings: settings).commands()
        case .batch: return try SendRequest(request, settings: settings, kind: .batch).commands()
        case .schedules: return try SendRequest(request, settings: settings, kind: .schedule).commands()
        case .message(let text): return [.submission(.report(message: try message(text)))]
        case .schedule(let text): return [.submission(.control(.cancel, message: "\(try message(text))"))]
        case .registrationIDs: return [try RegistrationRequest(id: nil, request: request, settings: settings).command()]
        case .registration(let id):
            return [try RegistrationRequest(id: id, request: request, settings: settings, access: access).command()]
        case .registrations where request.method == .post:
            return [try RegistrationRequest(id: nil, request: request, settings: settings, access: access).command()]
        case .registrations: return [try RegistrationList(request, tag: nil).command()]
        case .tagged(let tag): return [try RegistrationList(request, tag: tag).command()]
        case .later: throw AdapterError(.notFound, field: HubText.later)
        }
    }

    /// The commands that follow the first replies.
    ///
    /// - Throws: `AdapterError` if the data that was read does not allow the call.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        if let path = BackendPath(request.path) {
            return try BackendRequest(path: path, request: request, settings: settings).sequel(to: replies)
        }
        let path = try Self.path(of: request)
        switch path.call {
        case .messages: return try SendRequest(request, settings: settings).sequel(to: replies)
        case .schedules: return try SendRequest(request, settings: settings, kind: .schedule).sequel(to: replies)
        case .installation(let id) where request.method == .patch || request.method == .put:
            let access = try HubGuard(settings: settings, path: path).check(request)
            return try InstallationRequest(id: id, request: request, settings: settings, access: access)
                .sequel(to: replies)
        case .registration(let id):
            let access = try HubGuard(settings: settings, path: path).check(request)
            return try RegistrationRequest(id: id, request: request, settings: settings, access: access)
                .sequel(to: replies)
        case .registrations where request.method == .post:
            return try RegistrationRequest(id: nil, request: request, settings: settings).sequel(to: replies)
        default: return []  // all other calls have a single step
        }
    }

    private func message(_ text: String) throws(AdapterError) -> MessageID {
        guard let id = HubMessageID.parse(text) else { throw AdapterError(.notFound, field: HubText.noMessage) }
        return id
    }

    /// Nil: a call of the data plane.
    static func backend(_ request: VendorRequest) throws(AdapterError) -> BackendPath? {
        guard let path = BackendPath(request.path) else { return nil }
        guard path.call != .unknown else { throw AdapterError(.notFound) }
        guard path.methods.contains(request.method) else { throw AdapterError(.methodNotAllowed) }
        return path
    }

    static func path(of request: VendorRequest) throws(AdapterError) -> HubPath {
        guard let path = HubPath(request.path) else { throw AdapterError(.notFound) }
        guard path.call.methods.contains(request.method) else { throw AdapterError(.methodNotAllowed) }
        return path
    }
}
