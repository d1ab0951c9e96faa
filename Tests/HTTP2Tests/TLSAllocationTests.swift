import Foundation
import Testing

/// OpenSSL without memory, in a process of its own (`Tests/HTTP2AllocationProbe` says why).
struct TLSAllocationTests {
    /// Built beside the tests.
    private var probe: String {
        get throws {
            let folders = [Bundle.main.bundlePath, Bundle(for: Anchor.self).bundlePath].flatMap {
                [$0, ($0 as NSString).deletingLastPathComponent]
            }
            let paths = folders.map { $0 + "/http2-allocation-probe" }
            return try #require(paths.first { FileManager.default.isExecutableFile(atPath: $0) }, "\(paths)")
        }
    }

    private final class Anchor {}

    @Test(.timeLimit(.minutes(10)))
    func eachFailingAllocationOfOpenSSLEndsInAnErrorNeverATrap() throws {
        let certificates = try Certificates()
        let server = try Nghttpd(certificates)
        let stride = ProcessInfo.processInfo.environment["LONG"] == nil ? 5 : 1
        let output = try run(probe, [String(server.port), certificates.directory.file("ca.pem"), String(stride)])
        let words = output.split(whereSeparator: \.isWhitespace)
        #expect(words.count == 6, "\(output)")
        let counts = words.compactMap { Int($0) }
        // At the end, with memory enough, there is an answer; on the way there were failures.
        #expect(counts.count == 3 && counts[0] > 0 && counts[1] > 10, "\(output)")
    }
}
