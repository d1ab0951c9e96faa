import Foundation
package import Logging
import Model
import NIOConcurrencyHelpers

/// Writes one flat JSON object per line to standard error: time, level, message, label and the metadata.
package struct JSONLogHandler: LogHandler {
    /// 2 KiB per value: a log line must stay below the limit of a log collector, whatever a peer sends.
    package static let valueLimitBytes = 2048

    /// The parts that hardly change, by reference: the web framework copies the handler for each call, and three words are copied without an allocation.
    private final class Origin: Sendable {
        let label: String
        let provider: Logger.MetadataProvider?

        init(label: String, provider: Logger.MetadataProvider?) {
            self.label = label
            self.provider = provider
        }
    }

    package var metadata: Logger.Metadata = [:]
    private var origin: Origin
    package var logLevel: Logger.Level

    package var metadataProvider: Logger.MetadataProvider? {
        get { origin.provider }
        set { origin = Origin(label: origin.label, provider: newValue) }
    }

    package init(label: String, level: Logger.Level, metadataProvider: Logger.MetadataProvider? = nil) {
        origin = Origin(label: label, provider: metadataProvider)
        logLevel = level
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var object = JSONObject()
        object["time"] = .string(Self.timestamp())
        object["level"] = .string(event.level.rawValue)
        object["message"] = .string(event.message.description)
        object["label"] = .string(origin.label)
        let known = (metadataProvider?.get() ?? [:]).merging(metadata, uniquingKeysWith: { $1 })
        for (key, value) in known.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: {
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

extension Logger.MetadataProvider {
    /// Adds the identifier of the current call to each line that is written while the call is processed.
    package static let request = Logger.MetadataProvider {
        CallID.current.map { [LogKey.request: "\($0)"] } ?? [:]
    }
}

/// The keys of log metadata.
package enum LogKey {
    package static let request = "request"
    package static let tenant = "tenant"
    package static let vendor = "vendor"
    package static let route = "route"
    package static let status = "status"
    package static let peer = "peer"
    package static let reason = "reason"
    package static let app = "app"
    package static let version = "version"
    package static let limit = "limit"
    package static let count = "count"
    package static let error = "error"
    package static let address = "address"
    package static let credential = "credential"
    package static let migration = "migration"
    package static let account = "account"
    package static let masterKey = "master_key"
    package static let milliseconds = "ms"
}
