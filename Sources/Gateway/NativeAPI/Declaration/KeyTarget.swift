import GatewayHTTP
import Model
import Store

/// The object of a call that belongs to an app, as the caller named it: what decides whether a key with limits may make the call.
enum KeyTarget: Sendable, Hashable {
    case apps(Set<AppID>)
    /// A message or a device, which belongs to an app.
    case message(String)
    case device(DeviceID)
    /// The call spans all apps of the tenant.
    case tenant

    /// Reads the inputs with the names `app`, `message` and `device`, which have the same meaning in every operation.
    init(_ values: InputValues<some InputFields>) {
        let apps = values.texts("app")
        if !apps.isEmpty {
            self = .apps(Set(apps.map { AppID($0) }))
        } else if let message = values.text("message") {
            self = .message(message)
        } else if let device = values.text("device").flatMap({ DeviceID(text: $0) }) {
            self = .device(device)
        } else {
            self = .tenant
        }
    }
}

extension NativeAPI {
    /// Checks whether the caller's key includes `scope` for the app of the call.
    ///
    /// - Parameters:
    ///   - caller: the caller.
    ///   - scope: the scope of the operation.
    ///   - anyReach: a key that may send to one kind of audience only suffices; the operation checks the audience.
    ///   - target: only a key with limits costs a look-up of it.
    /// - Throws: `Problem`.
    func admit(
        _ caller: NativeCaller,
        to scope: APIScope,
        anyReach: Bool,
        _ target: KeyTarget
    ) async throws(Problem) {
        let scopes = caller.grant.scopes
        let apps = scope == .send && !anyReach ? scopes.appsOfFullSending : scopes.apps(scope)
        guard case .only(let allowed) = apps else { return }
        guard let named = try await self.apps(of: target, in: caller.tenant) else {
            throw Problem(
                .forbidden,
                allowed.isEmpty
                    ? "the key may only send to some kinds of audiences"
                    : "the key is limited to apps: name one of them in 'app', or use a key without a limit"
            )
        }
        if let app = named.first(where: { !allowed.contains($0) }) { throw .forbidden(KeyScope(scope, app: app)) }
    }

    /// Nil: the call is not limited to apps. An object that does not exist is not found, as for any key.
    private func apps(of target: KeyTarget, in tenant: TenantID) async throws(Problem) -> Set<AppID>? {
        switch target {
        case .apps(let apps): apps
        case .message(let reference): [try await message(reference, in: tenant).scope.app]
        case .device(let device): [try await self.device(device, in: tenant).app]
        case .tenant: nil
        }
    }
}
