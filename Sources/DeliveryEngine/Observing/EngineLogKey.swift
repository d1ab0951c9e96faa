import Logging

/// The keys of the engine's log metadata.
enum EngineLogKey: String {
    case app, call, count, credential, epoch, error, message, node, reason, slice, tenant, topic
}

extension Logger {
    /// Logs a fixed sentence with metadata, at debug level only: `Gateway` decides which messages an operator must see.
    func note(_ sentence: Logger.Message, _ values: @autoclosure () -> [EngineLogKey: String]) {
        guard logLevel <= .debug else { return }
        let pairs = values().map { ($0.key.rawValue, Logger.MetadataValue.string($0.value)) }
        debug(sentence, metadata: Dictionary(pairs) { first, _ in first })
    }
}
