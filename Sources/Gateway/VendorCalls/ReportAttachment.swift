import DeliveryEngine
import EngineStore
import HTTPTypes
package import Model
import Outgoing
package import Secrets

/// Makes the vendor of an upstream report later to this gateway, or not any longer, by one call of the vendor's API (docs/routing.md#later-reports).
package struct ReportAttachment: Sendable {
    /// Why the vendor was not called, or did not accept the call. For an operator; contains no secret.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// A change at the vendor, which `make` carries out.
    package struct Change: Sendable {
        /// The change in lines. The name under which the vendor reports is a secret, and is left out.
        package let text: String
        /// The gateway's address as the vendor reaches it; nil: the vendor reports no longer.
        package let address: String?
        fileprivate let adapter: any ReportAttaching
        fileprivate let server: OutgoingServer
        fileprivate let request: OutgoingRequest
    }

    /// 1 MiB of an answer are read: the code of a dialect that answers with 200 is in its body.
    private static let answerBytes = 1 << 20

    private let directory: PostgresDirectory
    private let keyRing: KeyRing
    private let vendors: VendorCatalog
    private let client: OutgoingClient

    /// - Parameters:
    ///   - database: contains the upstream and the binding.
    ///   - keyRing: opens the upstream, and derives the name under which its vendor reports.
    ///   - vendors: the dialects.
    ///   - allowed: the private networks in which an upstream may be (`upstream.allow`).
    package init(database: Database, keyRing: KeyRing, vendors: VendorCatalog, allowing allowed: [AddressRange]) {
        directory = PostgresDirectory(call: database.call, engine: database.engine)
        self.keyRing = keyRing
        self.vendors = vendors
        client = OutgoingClient(addressGuard: AddressGuard(allowing: allowed))
    }

    /// The change that makes a vendor report to a gateway. Calls nobody.
    ///
    /// - Parameters:
    ///   - key: the upstream.
    ///   - app: the app whose binding has the vendor's account; nil: the only one with a binding of the vendor.
    ///   - address: the gateway's address as the vendor reaches it; nil: the vendor reports no longer.
    /// - Returns: the change, which has not been made.
    /// - Throws: `Problem`; `StoreError`.
    package func change(_ key: CredentialKey, app: AppID?, to address: String?) async throws -> Change {
        let name = "the upstream '\(key.credential)'"
        guard let stored = try await directory.credential(key)?.stored, let vendor = stored.upstream else {
            throw Problem("tenant '\(key.tenant)' has no upstream '\(key.credential)'")
        }
        guard let adapter = vendors.attaching[vendor] else {
            throw Problem("\(name) is one of \(vendor), which reports nothing later")
        }
        guard let server = OutgoingServer(stored) else {
            throw Problem("the address of \(name) cannot be read; apply the provisioning file again")
        }
        guard let upstream = try? CredentialSecret.openUpstream(stored, with: keyRing) else {
            throw Problem("the secrets of \(name) cannot be opened with the master keys of this node")
        }
        let base = try address.map { try Self.base($0, for: server) }
        let binding = try await self.binding(of: vendor, in: key.tenant, app)
        let now = DatabaseClock().now()
        let url = base.map { $0 + UpstreamReportID(key, keyRing).path }
        let call: VendorRequest
        do throws(AdapterError) {
            call = try adapter.attachment(to: url, through: upstream, settings: binding, at: now)
        } catch {
            throw Problem("'\(error.field ?? "")' of \(name), or of the binding of \(vendor), is missing")
        }
        guard let request = adapter.prepare(call, for: upstream, host: server.url.host, at: now) else {
            throw Problem("\(name) cannot receive the call")
        }
        return Change(
            text: Self.text(request, server, vendor, binding.app, base),
            address: base,
            adapter: adapter,
            server: server,
            request: OutgoingRequest(
                method: request.method,
                target: request.path + (request.query.map { "?\($0)" } ?? ""),
                fields: request.headers,
                body: request.body
            )
        )
    }

    /// Makes the call. It is not repeated; a person may repeat it, because it sets one value.
    ///
    /// - Throws: `Problem` if the vendor does not say that it accepted it.
    package func make(_ change: Change) async throws(Problem) {
        let verdict: ForwardVerdict
        do throws(OutgoingError) {
            let response = try await client.call(change.request, to: change.server)
            let body = try await response.body.bytes(upTo: Self.answerBytes)
            let answer = VendorResponse(status: response.status, headers: response.fields, body: body)
            verdict = change.adapter.verdict(of: answer)
        } catch {
            throw Problem("\(change.server.url.host): \(UpstreamProbe.advice(error, change.server))")
        }
        switch verdict {
        case .accepted: return
        case .refused(let reason), .credential(let reason): throw Problem("the vendor refuses the call: \(reason)")
        case .failed(let reason, after: _):
            throw Problem("it is not known whether the vendor accepted the call, which may be repeated: \(reason)")
        // No answer has these meanings.
        case .busy, .canceled: throw Problem("the call was not made")
        }
    }

    /// The gateway's address, without a slash at its end.
    private static func base(_ address: String, for server: OutgoingServer) throws(Problem) -> String {
        guard let url = OutgoingURL(address), !address.contains("?"), !address.contains("#") else {
            throw Problem("'\(address)' is not an address like https://push.example.com")
        }
        guard url.isSecure || !server.url.isSecure else {
            throw Problem("'\(address)' must begin with https: the path to which the vendor reports is a secret")
        }
        return url.url.hasSuffix("/") ? String(url.url.dropLast()) : url.url
    }

    /// The settings of the app, or of the only one with a binding of the vendor.
    private func binding(of vendor: Vendor, in tenant: TenantID, _ app: AppID?) async throws -> BindingSettings {
        let bindings = try await directory.bindings().filter { binding in
            binding.tenant == tenant && binding.vendor == vendor && (app == nil || binding.app == app)
        }
        // Several bindings of an app contain the same settings.
        let apps = Set(bindings.map(\.app))
        guard let first = bindings.first else {
            throw Problem(app.map { "app '\($0)' has no binding of \(vendor)" } ?? "no app has a binding of \(vendor)")
        }
        guard apps.count == 1 else { throw Problem("\(apps.count) apps have a binding of \(vendor); give --app") }
        return BindingSettings(tenant: tenant, app: first.app, values: first.settings)
    }

    private static func text(
        _ request: VendorRequest,
        _ server: OutgoingServer,
        _ vendor: Vendor,
        _ app: AppID?,
        _ base: String?
    ) -> String {
        let place = "\(request.path) at \(server.url.origin) (\(vendor))"
        let change = base.map { "The vendor will report to \($0)/upstream/…, and no longer to another address." }
        return """
            \(request.method.rawValue) \(place), with the account of app '\(app?.rawValue ?? "")'
            \(change ?? "The vendor will report to no address.")
            """
    }
}
