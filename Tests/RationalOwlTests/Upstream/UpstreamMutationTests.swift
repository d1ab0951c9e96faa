import Model
import RationalOwl
import TestKit
import Testing

/// Mutations of documented requests: none traps, only sends name targets, and the content of every accepted send survives the vendor's own service.
/// Bounded by a fifth of `GATEWAY_FUZZ_COUNT`, because the mutation tests of each adapter read the same requests; the seed is in the failure.
struct UpstreamMutationTests {
    @Test(arguments: DocumentedRequestTests.commands.keys.sorted())
    func mutatedRequestsAreReadAndSurvive(_ fixture: String) throws {
        let documented = try Mount.documented(fixture)
        let json = try JSONParser.parse(documented.body)
        var mutator = Mutator(seed: Fuzz.seed ^ UInt64(fixture.utf8.count))
        let settings = UpstreamSendTests.settings
        for index in 0..<(Fuzz.count / 5) {
            var request = documented
            request.body = mutator.body(index, from: json)
            let fault =
                UpstreamContract.fault(Mount.adapter, request, settings) ?? Self.survivalFault(request, settings)
            if let fault {
                let body = String(decoding: request.body, as: UTF8.self)
                Issue.record("seed \(Fuzz.seed), mutation \(index): \(fault) of \(body)")
                return
            }
        }
    }

    private static func survivalFault(_ request: VendorRequest, _ settings: BindingSettings) -> String? {
        let commands = (try? Mount.adapter.decode(request, settings: settings)) ?? []
        // A template is refused before it becomes a message.
        guard case .submission(.submit(let sent))? = commands.first, sent.template == nil else { return nil }
        return UpstreamContract.survivalFault(
            of: sent,
            Mount.adapter,
            through: UpstreamSendTests.upstream,
            to: UpstreamSendTests.target("d0"),
            settings: settings
        )
    }
}
