import Commands
import DeliveryEngine
import HTTPTypes
import HummingbirdCore
import Logging
import Model

/// Carries one vendor call through: read, locate, prove, decode, command, encode. Knows no vendor.
struct VendorEndpoint: Sendable {
    let directory: any CallDirectory
    let handler: CommandHandler
    let handOver: @Sendable ([SliceLease]) -> Void
    let limiter: RateLimiter
    let identifiers: any IdentifierSource
    let logger: Logger
    /// Nil: nothing is ever captured.
    var recorder: CaptureRecorder?
    private let counts = VendorCallCounts()

    /// The answer to `request`, always in the vendor's own shape.
    func respond(to request: Request, match: VendorMounts.Match, remoteAddress: String?) async -> VendorResponse {
        let started = ContinuousClock.now
        var call = VendorRequest(
            route: match.route.name,
            method: request.method,
            path: request.uri.path,
            query: request.uri.query,
            headers: Self.headersWithHost(request),
            remoteAddress: remoteAddress,
            receivedAt: handler.now
        )
        var witness = CallWitness()
        let response = await answer(&call, request, match, &witness)
        recorder?.offer(call, response, witness, vendor: match.adapter.vendor)
        counts.count(match.adapter.vendor, match.route.name, response.status)
        let elapsed = ContinuousClock.now - started
        logger.debug(
            "vendor call",
            metadata: [
                LogKey.vendor: "\(match.adapter.vendor)", LogKey.route: "\(match.route.name)",
                LogKey.status: "\(response.status)", LogKey.milliseconds: "\(elapsed.milliseconds)",
            ]
        )
        return response
    }

    private static let hostField = HTTPField.Name("host")

    /// HTTP/1.1's Host becomes `:authority` in HTTPTypes; adapters look for the field.
    private static func headersWithHost(_ request: Request) -> HTTPFields {
        var headers = request.headers
        if let host = hostField, headers[host] == nil, let authority = request.head.authority {
            headers[host] = authority
        }
        return headers
    }

    private func answer(
        _ call: inout VendorRequest,
        _ request: Request,
        _ match: VendorMounts.Match,
        _ witness: inout CallWitness
    ) async -> VendorResponse {
        let adapter = match.adapter
        func refused(_ code: AdapterError.Code) -> VendorResponse {
            witness.refused(AdapterError(code))
            return adapter.refuse(AdapterError(code), for: call, settings: .unbound)
        }
        guard match.methodFits else { return refused(.methodNotAllowed) }
        guard limiter.admits(call.remoteAddress) else {
            witness.isKept = false
            return refused(.tooManyRequests)
        }
        do {
            call.body = try await BodyReader.read(request, limitBytes: match.route.bodyLimitBytes)
        } catch .tooLarge {
            return refused(.tooLarge)
        } catch {
            return refused(.timedOut)
        }
        if BodyInflater.isNeeded(call.headers) {
            do {
                call.body = try BodyInflater.inflated(
                    call.body,
                    coding: call.headers[.contentEncoding] ?? "",
                    limitBytes: match.route.bodyLimitBytes
                )
            } catch .tooLarge {
                return refused(.tooLarge)
            } catch {
                return refused(.unreadable)
            }
            call.headers[.contentEncoding] = nil
        }
        return await carryOut(call, adapter, &witness)
    }

    /// Everything after the body is read: pure but for the store. Fuzzed as it is.
    func carryOut(_ call: VendorRequest, _ adapter: any VendorAdapter) async -> VendorResponse {
        var witness = CallWitness()
        return await carryOut(call, adapter, &witness)
    }

    private func carryOut(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ witness: inout CallWitness
    ) async -> VendorResponse {
        var settings = BindingSettings.unbound
        func answered(_ replies: [Reply]) -> VendorResponse {
            witness.answered(replies)
            return adapter.encode(replies, for: call, settings: settings)
        }
        do throws(AdapterError) {
            let (key, proof) = try adapter.locate(call)
            let binding: BoundCall?
            let isProven: Bool
            do throws(StoreError) {
                binding = try await directory.binding(key)
                isProven = try await proves(proof, binding)
            } catch {
                note(call, adapter, "\(error)")
                return answered([.refused(.unavailable(retryAfter: .seconds(5)))])
            }
            guard let binding else { return answered([.refused(.unknownBinding)]) }
            settings = binding.settings
            witness.owner = CallWitness.Owner(tenant: binding.tenant, app: binding.app)
            guard isProven else { throw AdapterError(.unauthorized) }
            let commands = try adapter.decode(call, settings: settings).map { withBodyHash($0, call.body) }
            let scope = CallScope(
                tenant: binding.tenant,
                app: binding.app,
                vendor: adapter.vendor,
                settings: settings,
                remoteAddress: call.remoteAddress
            )
            var replies = await perform(commands, in: scope)
            for _ in 0..<Self.sequelLimit {
                let sequel = try adapter.sequel(to: replies, of: call, settings: settings)
                if sequel.isEmpty { break }
                replies = await perform(sequel.map { withBodyHash($0, call.body) }, in: scope)
            }
            return answered(replies)
        } catch {
            note(call, adapter, "\(error)")
            witness.refused(error)
            return adapter.refuse(error, for: call, settings: settings)
        }
    }

    /// Six sequels: three times read and written. Who loses three times in a row is told to come again.
    private static let sequelLimit = 6

    private func perform(_ commands: [Command], in scope: CallScope) async -> [Reply] {
        let result = await handler.perform(commands, in: scope)
        if !result.handover.isEmpty { handOver(result.handover) }
        return result.replies
    }

    /// The scope that a key must have for a vendor's call: those that show one are sends.
    private static let provenScope = "send"

    /// Whether a call may speak for the tenant of its binding.
    ///
    /// - Throws: `StoreError` when it cannot be known now.
    private func proves(_ proof: Proof, _ binding: BoundCall?) async throws(StoreError) -> Bool {
        switch proof {
        // A key that the dialect issues itself is judged by its adapter, which has the binding's secret.
        case .none, .authorizationKey, .sharedAccessSignature: return true
        case .bearer(let secret):
            guard let grant = try await directory.apiKey(secret), grant.tenant == binding?.tenant else { return false }
            return !grant.scopes.isDisjoint(with: [Self.provenScope, "admin"])
        // No adapter shows these yet.
        case .basic, .jwt: return false
        }
    }

    private func withBodyHash(_ command: Command, _ body: [UInt8]) -> Command {
        guard case .submission(.submit(var submission)) = command, submission.idempotencyKey != nil else {
            return command
        }
        submission.bodyHash = identifiers.sha256(body)
        return .submission(.submit(submission))
    }

    private func note(_ call: VendorRequest, _ adapter: any VendorAdapter, _ reason: String) {
        logger.info(
            "vendor call refused",
            metadata: [
                LogKey.vendor: "\(adapter.vendor)", LogKey.route: "\(call.route)", LogKey.reason: "\(reason)",
                LogKey.peer: "\(call.remoteAddress ?? "?")",
            ]
        )
    }
}

/// Whose call a binding's key is.
struct BoundCall: Sendable, Hashable {
    var tenant: TenantID
    var app: AppID
    var settings: BindingSettings
}

/// Looks up bindings and API keys. Filled by PostgreSQL's resolvers behind a short-lived cache.
protocol CallDirectory: Sendable {
    /// - Throws: `StoreError` when it cannot be known now.
    func binding(_ key: BindingKey) async throws(StoreError) -> BoundCall?
    /// - Throws: `StoreError` when it cannot be known now.
    func apiKey(_ secret: String) async throws(StoreError) -> APIKeyGrant?
}

/// What an API key permits.
struct APIKeyGrant: Sendable, Hashable {
    var tenant: TenantID
    var name: String
    var scopes: Set<String>
}
