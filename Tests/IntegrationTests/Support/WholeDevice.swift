import Foundation
import Model

/// Rows of a device file with every column, byte for byte as an export writes them.
enum WholeDevice {
    /// The lines of `count` devices, by key: the prefix and a number.
    static func lines(_ prefix: String, _ count: Int, users: Int) -> [String: String] {
        let numbers = 0..<count
        return Dictionary(
            numbers.map { ("\(prefix)\($0)", line(prefix, $0, users: users)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// A file with these lines in the order of their keys.
    static func file(_ lines: [String: String]) -> Data {
        Data(lines.sorted { $0.key < $1.key }.map { $0.value + "\n" }.joined().utf8)
    }

    /// A device. Every tenth has only the columns that each device has. `users`: a multiple of 20, so that the devices of one user agree about what is theirs.
    private static func line(_ prefix: String, _ number: Int, users: Int) -> String {
        let isAndroid = number % 4 == 3
        let platform = isAndroid ? "android" : "ios"
        let environment = number % 3 == 1 && !isAndroid ? "sandbox" : "production"
        let hex = String(format: "%016x", number + 70_000)
        let token = isAndroid ? "fcm-\(hex):APA91b_x" : hex
        let window = number % 2 == 0 ? "0900-2100" : "2200-0600"
        let version = "2.\(number % 9)"
        let place = #""key":"\#(prefix)\#(number)","platform":"\#(platform)","environment":"\#(environment)""#
        let accepts = #""acceptsPush":\#(number % 2 == 0)"#
        let registered = #""registeredAt":"2026-03-02T01:00:00.\#(100 + number % 900)Z""#
        let phone = "0106" + String(format: "%07d", number)
        let client =
            #"{"appVersion":"\#(version)","os":"\#(platform)","osVersion":"18.1","sdkVersion":"5.2","#
            + #""model":"iPhone15,2","locale":"ko_KR"}"#
        let consents =
            #"{"news":{"state":"subscribed","at":"2026-03-01T00:00:00.250Z","source":"crm"},"#
            + #""sale":{"state":"unsubscribed","source":"crm"}}"#
        let whole: [String] = [
            place,
            #""token":"\#(token)","user":"\#(prefix)\#(number % users)""#,
            #""name":"=Kim, \"\#(number)\"","phone":"\#(phone)""#,
            #""attributes":{"plan":"gold","z":2.50,"a":[1,null,{"가":"b \"c\""}]}"#,
            #""timeZone":"Asia/Seoul","receivingWindow":"\#(window)""#,
            #""tags":["t\#(number % 3)","vip"]"#,
            #""client":\#(client),"appVersion":"\#(version)""#,
            accepts,
            #""consents":\#(consents)"#,
            #""groups":["g \#(number % 5)"],"badge":\#(number % 4)"#,
            registered,
        ]
        let parts = number % 10 == 9 ? [place, accepts, registered] : whole
        return "{" + parts.joined(separator: ",") + "}"
    }
}
