import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads a request's body whole, bounded in bytes and in time.
enum BodyReader {
    /// 15 s from the first byte to the last: a caller that drips its body must not hold a connection and its memory.
    static let timeLimit = Duration.seconds(15)

    enum Failure: Error, Equatable {
        case tooLarge
        case tooSlow
        /// The connection broke.
        case broken
    }

    /// - Throws: `Failure`. Above the limit it stops reading at once.
    static func read(_ request: Request, limitBytes: Int) async throws(Failure) -> [UInt8] {
        if let stated = request.headers[.contentLength].flatMap({ Int($0) }), stated > limitBytes { throw .tooLarge }
        do {
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask {
                    do {
                        let buffer = try await request.body.collect(upTo: limitBytes)
                        return Array(buffer.readableBytesView)
                    } catch is NIOTooManyBytesError {
                        throw Failure.tooLarge
                    } catch is CancellationError {
                        throw Failure.tooSlow
                    } catch {
                        throw Failure.broken
                    }
                }
                group.addTask {
                    try await Task.sleep(for: timeLimit)
                    throw Failure.tooSlow
                }
                defer { group.cancelAll() }
                guard let bytes = try await group.next() else { throw Failure.broken }
                return bytes
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .tooSlow
        }
    }
}
