import ApplePayload
import Model
import Testing

/// The text of a message for people who look at it.
struct ShownTextTests {
    private func shown(_ payload: String) throws -> ShownText {
        ShownText(Content(raw: try JSONParser.parse(payload)))
    }

    // The payloads of docs/contracts/notificationhubs.md#7, and Apple's other forms of an alert.
    @Test(
        arguments: [
            (#"{"aps":{"alert":"Sale today","sound":"default"}}"#, nil, "Sale today"),
            (#"{"aps":{"alert":"From mina: Hello"}}"#, nil, "From mina: Hello"),
            (#"{"aps":{"alert":{"title":"Sale","body":"Only today"}}}"#, "Sale", "Only today"),
            (#"{"aps":{"alert":{"loc-key":"SALE","loc-args":["today"]}}}"#, nil, ""),
            (#"{"aps":{"content-available":1,"sound":""},"richId":"0"}"#, nil, ""),
            (#"{"aps":{"alert":17}}"#, nil, ""), (#"{"aps":"x"}"#, nil, ""), ("{}", nil, ""), ("[1]", nil, ""),
        ] as [(String, String?, String)]
    )
    func aPayloadShowsItsAlert(payload: String, title: String?, body: String) throws {
        let shown = try shown(payload)
        #expect(shown.title == title && shown.body == body)
    }

    @Test func itsOwnTextComesFirst() throws {
        let payload = try JSONParser.parse(#"{"aps":{"alert":"Sale today"}}"#)
        let own = ShownText(Content(title: "Parcel", body: "is here"))
        #expect(own.title == "Parcel" && own.body == "is here")
        let titled = ShownText(Content(title: "Parcel", raw: payload))
        #expect(titled.title == "Parcel" && titled.body.isEmpty)
        let written = ShownText(Content(body: "is here", raw: payload))
        #expect(written.title == nil && written.body == "is here")
        let empty = ShownText(Content())
        #expect(empty.title == nil && empty.body.isEmpty)
    }

    // Each template has other texts around the values, so the message itself has only these.
    @Test func aSendThatFillsTemplatesShowsItsValues() throws {
        var content = Content(raw: try JSONParser.parse(#"{"name":"Mina","count":3,"none":"","city":"Seoul"}"#))
        content.variants = TagTerms(try TagExpression("seoul"))
        #expect(content.variants != nil)
        let shown = ShownText(content)
        #expect(shown.title == nil && shown.body == "Mina\n3\nSeoul")
    }

    // The spelling that is sent unchanged is stored next to the payload.
    @Test func anotherSpellingOfThePayloadChangesNothing() throws {
        let spelled = #"{ "aps" : { "alert" : "Sale \u0074oday" } }"#
        var content = Content(raw: try JSONParser.parse(spelled))
        content.data["text"] = .string(spelled)
        #expect(ShownText(content).body == "Sale today")
    }
}
