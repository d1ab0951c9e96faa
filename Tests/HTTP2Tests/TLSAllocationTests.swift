import Foundation
import Testing

/// OpenSSL without memory, in its own process (`Tests/HTTP2AllocationProbe` explains why).
struct TLSAllocationTests {
    /// The program is in the folder of the tests.
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
        defer { server.kill() }
        let stride = ProcessInfo.processInfo.environment["LONG"] == nil ? 5 : 1
        let output = try run(probe, [String(server.port), certificates.directory.file("ca.pem"), String(stride)])
        let words = output.split(whereSeparator: \.isWhitespace)
        #expect(words.count == 6, "\(output)")
        let counts = words.compactMap { Int($0) }
        // At the end there is enough memory for an answer; before that there were failures.
        #expect(counts.count == 3 && counts[0] > 0 && counts[1] > 10, "\(output)")
    }
}
