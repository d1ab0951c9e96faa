package import HummingbirdCore
package import Model
import NIOConcurrencyHelpers
package import NIOCore

/// Reads the body of one call of the native API. Its room is released with the reader, after the call.
package final class NativeBodyReader: Sendable {
    private struct Room {
        /// Of a large body.
        var bytes: HeldPermit?
        /// Of a body with many values.
        var values: HeldPermit?
    }

    private let address: String?
    private let bodies: LargeBodies
    private let limiter: CallLimiter
    private let room = NIOLockedValueBox(Room())

    /// - Parameters:
    ///   - address: the client's.
    ///   - bodies: has the room.
    ///   - limiter: has the metric and the log.
    package init(from address: String?, bodies: LargeBodies, limiter: CallLimiter) {
        self.address = address
        self.bodies = bodies
        self.limiter = limiter
    }

    /// - Throws: `Problem`.
    package func bytes(
        of request: Request,
        on channel: (any Channel)?,
        limitBytes: Int
    ) async throws(Problem) -> [UInt8] {
        do {
            return try await BodyReader.read(
                request,
                on: channel,
                from: limiter.limited(address),
                limitBytes: limitBytes
            ) { (bytes, _) async throws(BodyReader.Failure) in
                do throws(LimitExcess) {
                    let permit = try await bodies.room(bytes: bytes, address: address)
                    room.withLockedValue { $0.bytes = permit }
                } catch { throw .noRoom(error) }
            }
        } catch .tooLarge {
            limiter.refused(FixedLimit.bodyBytes)
            throw .tooLarge(limitBytes)
        } catch .noRoom(let excess) {
            throw limited(excess)
        } catch {
            if error == .tooSlow { limiter.refused(FixedLimit.bodyTime) }
            throw .tooSlow
        }
    }

    /// The JSON of a body, when there is room for its values.
    ///
    /// - Throws: `Problem`.
    package func json(_ bytes: [UInt8]) async throws(Problem) -> JSON {
        do throws(LimitExcess) {
            let permit = try await bodies.room(valuesOf: bytes, address: address)
            if let permit { room.withLockedValue { $0.values = permit } }
        } catch { throw limited(error) }
        do throws(JSONError) {
            return try await LargeBodies.parse(bytes) { () throws(JSONError) in try JSONParser.parse(bytes) }
        } catch {
            if error.hasTooManyValues { limiter.refused(FixedLimit.bodyValues) }
            throw .badRequest(error.description)
        }
    }

    private func limited(_ excess: LimitExcess) -> Problem {
        limiter.refused(excess, from: address)
        return .limited(excess)
    }

    package func release() {
        let held = room.withLockedValue { $0 }
        held.bytes?.release()
        held.values?.release()
    }
}
