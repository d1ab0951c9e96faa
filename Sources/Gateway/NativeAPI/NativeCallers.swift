import Foundation
package import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model

/// Authenticates the callers of the native API by their keys.
package struct NativeCallers: Sendable {
    private let directory: any CallDirectory
    private let limiter: CallLimiter

    package init(directory: any CallDirectory, limiter: CallLimiter) {
        self.directory = directory
        self.limiter = limiter
    }

    /// - Throws: `Problem`: without a valid key, after too many wrong ones, or when the store cannot answer now.
    func authenticated(_ request: Request, _ context: CallContext) async throws(Problem) -> NativeCaller {
        guard let header = request.headers[.authorization], header.lowercased().hasPrefix("bearer ") else {
            throw .unauthorized
        }
        let secret = header.dropFirst(7).trimmingCharacters(in: .whitespaces)
        let address = context.remoteAddress
        let proof = limiter.applies(to: address) ? CallProof(secret) : nil
        if let proof, let excess = limiter.excess(of: proof, from: address) {
            limiter.refused(excess, from: address)
            throw .limited(excess)
        }
        let grant: APIKeyGrant?
        do { grant = try await directory.apiKey(secret) } catch { throw .unavailable(5) }
        guard let grant else {
            if let proof { limiter.failed(proof, from: address) }
            throw .unauthorized
        }
        if let proof { limiter.proved(proof, from: address) }
        return NativeCaller(request: request, grant: grant, remoteAddress: address, channel: context.channel)
    }
}
