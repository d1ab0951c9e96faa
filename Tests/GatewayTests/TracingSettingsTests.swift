import Foundation
import Testing

@testable import Gateway

struct TracingSettingsTests {
    @Test(arguments: [
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("https://collector.example/", "https://collector.example/v1/traces"),
        ("https://collector.example/otlp/v1/traces", "https://collector.example/otlp/v1/traces"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
    ])
    func anEndpointWithoutAPathGetsThatOfTheProtocol(_ endpoint: String, _ url: String) throws {
        #expect(try TracingSettings.url(endpoint) == url)
    }

    @Test(arguments: [
        "", "collector:4318", "grpc://collector:4317", "http://", "http://key@collector", "http://c/?a=b",
    ])
    func otherEndpointsAreRefused(_ endpoint: String) {
        #expect(throws: ConfigurationProblem.self) { try TracingSettings.url(endpoint) }
    }

    @Test func theShareIsANumberFromZeroToOne() throws {
        #expect(try TracingSettings.sample(nil) == 0.01)
        #expect(try TracingSettings.sample("0") == 0 && TracingSettings.sample("1") == 1)
        for wrong in ["-0.1", "1.1", "x", "nan", ""] {
            #expect(throws: ConfigurationProblem.self) { try TracingSettings.sample(wrong) }
        }
    }

    @Test func headersAreReadFromTextAndFromAFile() throws {
        let headers = try TracingSettings.headers("Authorization=Basic a=b, x-key = 1", file: nil)
        #expect(headers.map(\.name) == ["Authorization", "x-key"] && headers.map(\.value) == ["Basic a=b", "1"])
        let file = FileManager.default.temporaryDirectory.appending(path: "headers-\(UUID().uuidString)").path
        try "a=1\nb=2\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(try TracingSettings.headers(nil, file: file).map(\.name) == ["a", "b"])
        #expect(throws: ConfigurationProblem.self) { try TracingSettings.headers("a=1", file: file) }
        #expect(throws: ConfigurationProblem.self) { try TracingSettings.headers(nil, file: file + "-none") }
        #expect(try TracingSettings.headers(nil, file: nil).isEmpty)
    }

    // The value is a secret.
    @Test(arguments: ["secret-9", "=secret-9", "a b=secret-9", "a=secret-9\u{1}", "é=secret-9"])
    func aWrongHeaderIsRefusedWithoutItsValue(_ text: String) {
        let problem = #expect(throws: ConfigurationProblem.self) { try TracingSettings.headers(text, file: nil) }
        #expect(problem?.description.contains("secret-9") == false)
    }

    @Test func nothingIsTracedWithoutAnEndpoint() async throws {
        let none = try await GatewayConfiguration.load(flags: ["tracing.sample": "1"], configFile: nil)
        #expect(none.tracing == nil)
        let some = try await GatewayConfiguration.load(
            flags: ["tracing.endpoint": "http://c:4318", "tracing.sample": "0.5"],
            configFile: nil
        )
        #expect(some.tracing?.sample == 0.5 && some.tracing?.url == "http://c:4318/v1/traces")
    }
}
