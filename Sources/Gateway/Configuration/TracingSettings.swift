import Configuration
import Foundation

/// Where traces are sent, and how many.
struct TracingSettings: Sendable {
    /// The whole URL of the collector.
    var url: String
    /// The share of the calls that are traced, 0...1.
    var sample: Double
    /// Secret headers of each call to the collector.
    var headers: [(name: String, value: String)]
    /// Authorities of the collector's certificate, PEM. Nil: those of the system.
    var authoritiesFile: String?

    /// 1 %: a trace has several spans.
    private static let defaultSample = 0.01
    /// The path of OTLP over HTTP, if the setting names none.
    private static let path = "/v1/traces"
    /// 32 headers: more is a wrong file.
    private static let headerLimit = 32

    /// Nil: no endpoint is set, and nothing is traced.
    ///
    /// - Throws: `ConfigurationProblem` that names the setting.
    init?(_ reader: ConfigReader) throws(ConfigurationProblem) {
        guard let endpoint = reader.string(forKey: "tracing.endpoint") else { return nil }
        url = try Self.url(endpoint)
        sample = try Self.sample(
            reader.string(forKey: "tracing.sample") ?? reader.double(forKey: "tracing.sample").map { "\($0)" }
                ?? reader.int(forKey: "tracing.sample").map { "\($0)" }
        )
        authoritiesFile = reader.string(forKey: "tracing.ca")
        headers = try Self.headers(
            reader.string(forKey: "tracing.headers", isSecret: true),
            file: reader.string(forKey: "tracing.headers.file")
        )
    }

    static func url(_ endpoint: String) throws(ConfigurationProblem) -> String {
        guard let parts = URLComponents(string: endpoint), parts.scheme == "http" || parts.scheme == "https",
            parts.host?.isEmpty == false, parts.user == nil, parts.fragment == nil, parts.query == nil
        else {
            throw ConfigurationProblem(
                setting: "tracing-endpoint",
                problem: "must be http://host:port or https://host:port, with or without a path"
            )
        }
        guard parts.path.isEmpty || parts.path == "/" else { return endpoint }
        return (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + path
    }

    static func sample(_ text: String?) throws(ConfigurationProblem) -> Double {
        guard let text else { return defaultSample }
        guard let share = Double(text), (0...1).contains(share) else {
            throw ConfigurationProblem(setting: "tracing-sample", problem: "must be 0 to 1")
        }
        return share
    }

    /// The problems do not contain the value, which is secret.
    static func headers(
        _ text: String?,
        file: String?
    ) throws(ConfigurationProblem) -> [(name: String, value: String)] {
        var text = text
        if let file {
            guard text == nil else {
                throw ConfigurationProblem(setting: "tracing-headers-file", problem: "excludes tracing.headers")
            }
            guard let data = FileManager.default.contents(atPath: file) else {
                throw ConfigurationProblem(setting: "tracing-headers-file", problem: "\(file) cannot be read")
            }
            text = String(decoding: data, as: UTF8.self)
        }
        let entries = (text ?? "").split { $0 == "," || $0.isNewline }
        var headers: [(name: String, value: String)] = []
        for entry in entries {
            let parts = entry.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isNameByte),
                parts[1].utf8.allSatisfy({ (0x20...0x7E).contains($0) }), headers.count < headerLimit
            else {
                throw ConfigurationProblem(
                    setting: "tracing-headers",
                    problem: "must be name=value, separated by commas or lines, at most \(headerLimit)"
                )
            }
            headers.append((parts[0], parts[1]))
        }
        return headers
    }

    /// A letter, a digit, or one of `-_.`.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
