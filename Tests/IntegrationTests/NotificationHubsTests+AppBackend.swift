import AsyncHTTPClient
import CommandSupport
import Crypto
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// docs/contracts/notificationhubs.md#10: the back end of the rich-push tutorial, as its app calls it.
extension NotificationHubsTests {
    /// An image of one transparent pixel.
    private static let image =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ) ?? Data()
    static let imageHash = SHA256.hash(data: image).map { String(format: "%02x", $0) }.joined()

    private struct SiteAnswer {
        var status: Int
        var headers: HTTPHeaders
        var bytes: [UInt8]
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private func site(
        _ world: World,
        _ method: HTTPMethod,
        _ path: String,
        _ body: String? = nil,
        as user: String? = "mina:a secret of mina's"
    ) async throws -> SiteAnswer {
        var request = HTTPClientRequest(url: "\(world.http.base)/site/api\(path)")
        request.method = method
        if let user {
            request.headers.add(name: "authorization", value: "Basic \(Data(user.utf8).base64EncodedString())")
        }
        request.headers.add(name: "content-type", value: "application/json;charset=utf-8")
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return SiteAnswer(
            status: Int(response.status.code),
            headers: response.headers,
            bytes: Array(buffer.readableBytesView)
        )
    }

    func appBackend(_ world: World) async throws {
        let stranger = try await site(world, .POST, "/register", as: nil)
        #expect(stranger.status == 401 && stranger.headers.first(name: "www-authenticate") != nil)
        #expect(try await site(world, .POST, "/register", as: "mina:mina").status == 401)

        let handle = Self.token(61)
        let drawn = try await site(world, .POST, "/register?handle=\(handle)")
        #expect(drawn.status == 200)
        // As the app's client does.
        let id = String(drawn.text.dropFirst().dropLast())
        let document = #"{"Platform":"apns","Handle":"\#(handle)","Tags":["seoul"]}"#
        #expect(try await site(world, .PUT, "/register/\(id)", document).status == 200)
        #expect(try await site(world, .POST, "/register?handle=\(handle)").text == drawn.text)

        let text = try await site(world, .POST, "/notifications?pns=apns&to_tag=mina", "\"Hello\"", as: "hong:gildong")
        #expect(text.status == 200, "\(text.text)")
        let first = try await push(world, 61, count: 1)
        #expect(first?["payload"] == ["aps": ["alert": "From hong: Hello"]])

        let rich = try await site(world, .POST, "/notifications")
        #expect(rich.status == 200 && rich.bytes.isEmpty, "\(rich.text)")
        let second = try await push(world, 61, count: 2)
        let payload = second?["payload"]
        #expect(payload?["aps"] == ["content-available": 1, "sound": ""], "\(payload ?? .null)")
        #expect(payload?["richType"] == "img" && payload?["richMessage"] == "Check this image out!")
        #expect(second?["headers"]?["apns-push-type"] == "background", "\(second ?? .null)")
        let number = try #require(payload?["richId"]?.string.flatMap { Int($0) })
        // The image that the binding names may come later than the push.
        #expect(try await site(world, .GET, "/notifications/\(number)").status == 404)
        try await upload(world)
        let shown = try await site(world, .GET, "/notifications/\(number)")
        #expect(shown.status == 200 && shown.bytes == Array(Self.image))
        #expect(shown.headers.first(name: "content-type") == "image/png")
        // Only whom it was for.
        #expect(try await site(world, .GET, "/notifications/\(number)", as: "hong:gildong").status == 404)
        #expect(try await site(world, .GET, "/notifications/\(number + 1)").status == 404)
        #expect(try await site(world, .GET, "/notifications/x").status == 400)

        #expect(try await site(world, .DELETE, "/register/\(id)").status == 200)
        #expect(try await site(world, .PUT, "/register/\(id)", document).status == 410)
        // The client begins anew, once.
        let again = try await site(world, .POST, "/register?handle=\(handle)")
        #expect(again.status == 200 && again.text != drawn.text)
    }

    private func upload(_ world: World) async throws {
        var request = HTTPClientRequest(url: "\(world.http.base)/v1/apps/shop/media/\(Self.imageHash)")
        request.method = .PUT
        request.headers.add(name: "authorization", value: "Bearer \(world.apiKey)")
        request.body = .bytes(ByteBuffer(bytes: Self.image))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(response.status.code == 201)
    }
}
