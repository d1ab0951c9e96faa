import HTTPTypes
import Model

/// Decides whether a call may be handed to the vendor. `prepare` signs it with the upstream's key, which permits everything, so the vendor cannot see which rights the
/// caller has: the caller's own signature must permit the call here, by the keys of the binding.
///
/// As at the vendor, a key with the right *listen* may set users and tags of installations. A token that the gateway issued for a user stays restricted to that user.
struct HubAdmission {
    private let request: VendorRequest
    private let settings: HubsSettings

    init(_ request: VendorRequest, _ settings: HubsSettings) {
        self.request = request
        self.settings = settings
    }

    /// - Throws: `AdapterError` for a call that the gateway refuses. Calls that `prepare` does not sign pass.
    func check() throws(AdapterError) {
        guard BackendPath(request.path) == nil, let path = HubPath(request.path) else { return }
        guard path.isPlain else { throw AdapterError(.notFound) }
        let access = try HubGuard(settings: settings, path: path).check(request)
        // Jobs export all registrations, and the gateway serves neither them nor feedback, so that its guard asks for no right.
        if path.call == .later, !access.manages { throw HubAccess.refusal }
        if path.call == .registrations, request.method != .post, !access.manages { try checkList() }
        guard let user = access.user, case .installation(let id) = path.call else { return }
        switch request.method {
        case .put: try checkPut(of: id, access)
        case .patch: try checkPatch(by: user)
        default: return
        }
    }

    /// Without the right *manage* a list is that of one channel. For an empty filter, or one for a tag, the vendor would list all registrations, and of two filters
    /// it may read another one.
    private func checkList() throws(AdapterError) {
        _ = try RegistrationList(request, tag: nil).command()
        guard RegistrationList.filterCount(request) == 1 else { throw HubAccess.refusal }
    }

    /// The gateway must understand the installation as the vendor does: the vendor ignores the case of names.
    private func checkPut(of id: String, _ access: HubAccess) throws(AdapterError) {
        _ = try InstallationRequest(id: id, request: request, settings: settings, access: access).command()
        guard let body = try? JSONParser.parse(request.body), !Self.isRespelled(body) else { throw HubAccess.refusal }
    }

    private static let names: Set = ["userId", "tags", "templates"]
    private static let foldedNames: Set = ["userid", "tags", "templates"]

    /// The recursion is limited by the depth of the JSON parser.
    private static func isRespelled(_ json: JSON) -> Bool {
        switch json {
        case .null, .bool, .number, .string: false
        case .array(let list): list.contains(where: isRespelled)
        case .object(let object):
            object.pairs.contains { name, value in
                foldedNames.contains(name.lowercased()) && !names.contains(name) || isRespelled(value)
            }
        }
    }

    private static let changeNames: Set = ["op", "path", "value"]

    /// Only changes that cannot choose whose pushes the device receives. The vendor ignores the case of names, so that it could read `Value` instead of `value`.
    private func checkPatch(by user: String) throws(AdapterError) {
        guard let list = (try? JSONParser.parse(request.body))?.array, list.count <= HubsLimits.changeCount else {
            throw HubAccess.refusal
        }
        for element in list {
            guard let object = element.object, object.keys.allSatisfy({ Self.changeNames.contains($0) }) else {
                throw HubAccess.refusal
            }
            let change = try InstallationChange(element)
            switch change.path.first?.lowercased() {
            case "pushchannel", "expirationtime", "pushvariables": continue
            case "userid" where change.path.count == 1 && change.value?.string == user: continue
            default: throw HubAccess.refusal
            }
        }
    }
}
