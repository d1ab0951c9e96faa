package import CallAudit
import Foundation
package import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model

/// Authenticates the callers of the native API by their keys.
package struct NativeCallers: Sendable {
    private let directory: any CallDirectory
    let limiter: CallLimiter
    fileprivate let bodies: LargeBodies
    private let proofs: RefusedProofs
    /// Refuses administrative calls while the copies of the audit are behind.
    let gate: AuditGate

    package init(
        directory: any CallDirectory,
        limiter: CallLimiter,
        bodies: LargeBodies,
        proofs: RefusedProofs = RefusedProofs(),
        gate: AuditGate = AuditGate(limitSeconds: nil)
    ) {
        self.directory = directory
        self.limiter = limiter
        self.bodies = bodies
        self.proofs = proofs
        self.gate = gate
    }

    /// - Throws: `Problem`: without a valid key, after too many wrong ones, or when the store cannot answer now.
    func authenticated(_ request: Request, _ context: CallContext) async throws(Problem) -> NativeCaller {
        if let account = context.account {
            var caller = caller(request, context, account, isAccount: true)
            caller.isRepetition = context.isRepetition
            return caller
        }
        guard let header = request.headers[.authorization], header.lowercased().hasPrefix("bearer ") else {
            throw .unauthorized
        }
        let secret = header.dropFirst(7).trimmingCharacters(in: .whitespaces)
        let address = context.remoteAddress
        let proof = limiter.applies(to: address) ? CallProof(secret) : nil
        if let proof, let excess = limiter.excess(of: proof, from: address, at: .native) {
            limiter.refused(excess, from: address)
            throw .limited(excess)
        }
        let grant: APIKeyGrant?
        do { grant = try await directory.apiKey(secret) } catch { throw .unavailable(5) }
        guard let grant else {
            if let proof { limiter.failed(proof, from: address) }
            proofs.note(.key, .native, of: nil)
            throw .unauthorized
        }
        if let proof { limiter.proved(proof, from: address, at: .native) }
        guard grant.isUsable(from: context.client.proven) else {
            refused(.network, grant)
            throw .forbiddenNetwork
        }
        return caller(request, context, grant, isAccount: false)
    }

    private func caller(
        _ request: Request,
        _ context: CallContext,
        _ grant: APIKeyGrant,
        isAccount: Bool
    ) -> NativeCaller {
        NativeCaller(
            request: request,
            grant: grant,
            isAccount: isAccount,
            remoteAddress: context.remoteAddress,
            channel: context.channel,
            reader: NativeBodyReader(from: context.remoteAddress, bodies: bodies, limiter: limiter)
        )
    }

    /// Counts a refusal of a right key.
    func refused(_ kind: ProofKind, _ grant: APIKeyGrant) {
        proofs.note(kind, .native, of: grant.tenant, subject: "key \(grant.name)")
    }
}

extension NativeCallers {
    /// 4 KiB: the body of a caller without a key.
    private static let openBodyBytes = 4 << 10

    /// A caller of an operation that needs no key. It belongs to no tenant and has no scope.
    ///
    /// - Throws: `Problem` when its address failed too often.
    func withoutKey(_ request: Request, _ context: CallContext) throws(Problem) -> NativeCaller {
        let address = context.remoteAddress
        if limiter.applies(to: address), let excess = limiter.excess(.unknown, LimitedName.network(address)) {
            limiter.refused(excess, from: address)
            throw .limited(excess)
        }
        return NativeCaller(
            request: request,
            grant: APIKeyGrant(tenant: "", name: "", scopes: []),
            remoteAddress: address,
            channel: context.channel,
            reader: NativeBodyReader(from: address, bodies: bodies, limiter: limiter),
            bodyLimitBytes: Self.openBodyBytes
        )
    }

    /// Counts a call without a key that named something unknown.
    func failed(_ caller: NativeCaller) {
        guard limiter.applies(to: caller.remoteAddress) else { return }
        limiter.charge(.unknown, LimitedName.network(caller.remoteAddress))
    }
}
