import IPNS
import Model
import TestKit
import Testing

/// Mutations of documented requests: none traps, only sends name targets, and the content of every accepted send survives the vendor's own server.
/// Bounded by a fifth of `GATEWAY_FUZZ_COUNT`, because the mutation tests of each adapter read the same requests; the seed is in the failure.
struct UpstreamMutationTests {
    @Test func mutatedRequestsAreReadAndSurvive() throws {
        for documented in try ConformanceTests.documented() {
            let json = try JSONParser.parse(documented.body)
            var mutator = Mutator(seed: Fuzz.seed ^ UInt64(documented.path.utf8.count))
            for index in 0..<(Fuzz.count / 5) {
                var request = documented
                request.body = mutator.body(index, from: json)
                let fault = UpstreamContract.fault(Mount.adapter, request, Mount.strict) ?? Self.survivalFault(request)
                if let fault {
                    let body = String(decoding: request.body, as: UTF8.self)
                    Issue.record("seed \(Fuzz.seed), mutation \(index): \(fault) of \(body)")
                    return
                }
            }
        }
    }

    private static func survivalFault(_ request: VendorRequest) -> String? {
        let commands = (try? Mount.adapter.decode(request, settings: Mount.strict)) ?? []
        guard case .submission(.submit(let sent))? = commands.first else { return nil }
        return UpstreamContract.survivalFault(
            of: sent,
            Mount.adapter,
            through: UpstreamSendTests.upstream,
            to: UpstreamSendTests.target("D1"),
            settings: Mount.strict
        )
    }
}
