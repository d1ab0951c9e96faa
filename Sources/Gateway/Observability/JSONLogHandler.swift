import Foundation
import Logging
import Model
import NIOConcurrencyHelpers

/// One JSON object per line on standard error: time, level, message, label and the metadata, flat.
struct JSONLogHandler: LogHandler {
    /// 2 KiB per value: a log line must fit a collector's limit whatever a peer sends.
    static let valueLimitBytes = 2048

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let label: String

    init(label: String, level: Logger.Level) {
        self.label = label
        self.logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var object = JSONObject()
        object["time"] = .string(Self.timestamp())
        object["level"] = .string(event.level.rawValue)
        object["message"] = .string(event.message.description)
        object["label"] = .string(label)
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) {
            object[key] = .string(String("\(value)".prefix(Self.valueLimitBytes)))
        }
        var line = JSONWriter.bytes(.object(object))
        line.append(UInt8(ascii: "\n"))
        FileHandle.standardError.write(Data(line))
    }

    private static func timestamp() -> String {
        Date.now.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted)
        )
    }
}

/// Keys of log metadata, once each.
enum LogKey {
    static let tenant = "tenant"
    static let app = "app"
    static let vendor = "vendor"
    static let route = "route"
    static let status = "status"
    static let peer = "peer"
    static let reason = "reason"
    static let error = "error"
    static let address = "address"
    static let credential = "credential"
    static let milliseconds = "ms"
}
