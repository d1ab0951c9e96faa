import Model
import Testing

@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// Credentials: the answer of the page, the preflight, and uploads with each kind of mistake.
struct CredentialsPageTests {
    private static func credential(_ changes: JSONObject) -> JSON {
        var object = OperationsSamples.credential.object ?? JSONObject()
        for (name, value) in changes.pairs { object[name] = value }
        return .object(object)
    }

    private func sentence(_ credentials: [JSON]) throws -> Sentence {
        let body: JSON = ["credentials": .array(credentials), "next": .null]
        return try OperationsStage.sentence(CredentialsPage(), ["credentials": body])
    }

    private static let expiring = credential(["credential": "shop-p12", "daysToExpiry": 9])
    private static let unusable = credential([
        "credential": "old", "usable": false,
        "findings": [["text": "the certificate is not for production", "fatal": true]],
    ])
    private static let refused = credential([
        "credential": "bad", "refusal": "InvalidProviderToken", "refusedAt": "2026-11-23T04:50:00.000Z",
    ])

    @Test func theMostUrgentProblemIsTheAnswer() throws {
        #expect(try sentence([]).mark == .idle)
        #expect(try sentence([OperationsSamples.credential]).text == "The credential is valid.")
        let all = [OperationsSamples.credential, Self.expiring, Self.unusable, Self.refused]
        #expect(
            try sentence(all).text
                == "Deliveries are paused: credential bad is refused (InvalidProviderToken) since Mon 23 Nov 13:50."
        )
        #expect(
            try sentence(Array(all.dropLast())).text
                == "Credential old cannot send. The certificate is not for production."
        )
        let soon = try sentence([Self.credential(["credential": "b", "daysToExpiry": 20]), Self.expiring])
        #expect(soon.text == "Certificate shop-p12 expires in 9 days. Upload a new one." && soon.mark == .warn)
    }

    // Each finding of `CredentialFinding` concerns one of the five parts.
    @Test(
        arguments: [
            ("the private key is not a P-256 key in PEM (.p8)", FindingText.Concern.file),
            ("the team id or key id contains characters that are not allowed", .team),
            ("the trust roots are not certificates in PEM", .file),
            ("the certificate and its key cannot be used for TLS", .file),
            ("the team id is not ten capital letters and digits", .team),
            ("the key id is not ten capital letters and digits", .keyID),
            ("the certificate is not valid yet", .file), ("the certificate has expired", .file),
            ("the certificate expires in 12 days", .file), ("the certificate is not for production", .environment),
            ("the certificate is not for sandbox", .environment),
            ("the credential does not serve the topic com.example.shop", .topic),
            ("the certificate does not name a topic", .topic),
        ]
    )
    func aFindingNamesItsPart(_ finding: String, _ concern: FindingText.Concern) {
        let read = FindingText(finding)
        #expect(read.concern == concern)
        #expect(read.text.ko != finding && read.text.en.hasSuffix("."))
    }

    @Test func thePreflightMarksTheWrongPart() throws {
        let credential = Self.credential([
            "findings": [["text": "the credential does not serve the topic com.example.shop", "fatal": true]]
        ])
        let checks = CredentialChecks(CredentialFacts(json: credential), Wording(OperationsStage.request())).all
        #expect(checks.map(\.mark) == [.ok, .ok, .bad, .ok, .ok, .ok])
        let unused = CredentialFacts(json: Self.credential(["uses": []]))
        let open = CredentialChecks(unused, Wording(OperationsStage.request())).all
        #expect(open.map(\.mark) == [.ok, .ok, .idle, .idle, .ok, .ok])
        let refused = CredentialChecks(CredentialFacts(json: Self.refused), Wording(OperationsStage.request())).all
        #expect(refused.last?.mark == .bad)
        #expect(refused.last?.detail.contains("Team ID, key ID and file do not belong together") == true)
    }

    // MARK: Uploads

    private static let p8 = "-----BEGIN PRIVATE KEY-----\nMIGT\n-----END PRIVATE KEY-----\n"

    private func upload(
        _ bytes: [UInt8],
        file: String = "AuthKey_KEY1234567.p8",
        key: String = "KEY1234567",
        team: String = "ABCDE12345",
        credential: String = "apple",
        others: [FormFields.Field] = []
    ) -> FormStep {
        let fields = [
            FormFields.Field("credential", .text(credential)), FormFields.Field("keyId", .text(key)),
            FormFields.Field("teamId", .text(team)), FormFields.Field("file", .file(name: file, bytes: bytes)),
        ]
        return UploadCredentialForm().submit(OperationsStage.request(), FormFields(fields + others), Answers())
    }

    private func errors(_ step: FormStep) -> [String] {
        if case .invalid(let errors) = step { errors.errors.keys.sorted() } else { [] }
    }

    @Test func aSigningKeyIsSentWithItsIDs() {
        guard case .call(let call) = upload(Array(Self.p8.utf8)) else {
            Issue.record("no call")
            return
        }
        #expect(call.method == .put && call.path == "credentials/apple")
        #expect(
            call.body == [
                "kind": "apns-token", "teamId": "ABCDE12345", "keyId": "KEY1234567", "privateKey": .string(Self.p8),
            ]
        )
        // The key ID is in the file's name.
        guard case .call(let named) = upload(Array(Self.p8.utf8), key: "") else {
            Issue.record("no call")
            return
        }
        #expect(named.body?["keyId"] == "KEY1234567")
        #expect(UploadCredentialForm().asksPassword)
    }

    @Test func aWrongFieldIsNamed() {
        let p8 = Array(Self.p8.utf8)
        #expect(errors(upload(p8, key: "OTHER12345")) == ["keyId"])
        #expect(errors(upload(p8, file: "key.p8", key: "")) == ["keyId"])
        #expect(errors(upload(p8, team: "")) == ["teamId"])
        #expect(errors(upload(p8, team: "abcde12345")) == ["teamId"])
        #expect(errors(upload(p8, file: "key.p8", key: "ABCDE12345")) == ["teamId"])
        #expect(errors(upload(p8, credential: " ")) == ["credential"])
        #expect(errors(upload([], file: "")) == ["file"])
    }

    @Test(
        arguments: [
            ("-----BEGIN CERTIFICATE REQUEST-----", CredentialsText.request),
            ("-----BEGIN CERTIFICATE-----", CredentialsText.bareCertificate),
            ("-----BEGIN PUBLIC KEY-----", CredentialsText.publicKey),
            ("-----BEGIN RSA PRIVATE KEY-----", CredentialsText.otherKey),
            ("hello", CredentialsText.unknownFile), ("", CredentialsText.emptyFile),
            (String(repeating: "x", count: 50_000), CredentialsText.bigFile),
        ]
    )
    func aWrongFileIsNamed(_ text: String, _ error: Text) {
        #expect(CredentialFile(Array(text.utf8)) == .wrong(error))
    }

    // The heads of DER files: a PFX has the version 3, a certificate another SEQUENCE, signed data an object identifier.
    @Test func binaryFilesAreKnownByTheirHeads() {
        let rest = [UInt8](repeating: 0, count: 20)
        let pkcs12: [UInt8] = [0x30, 0x82, 0x01, 0x00, 0x02, 0x01, 0x03] + rest
        #expect(CredentialFile(pkcs12) == .pkcs12(pkcs12))
        #expect(
            CredentialFile([0x30, 0x82, 0x01, 0x00, 0x30, 0x82, 0x01] + rest) == .wrong(CredentialsText.bareCertificate)
        )
        #expect(CredentialFile([0x30, 0x80, 0x06, 0x09, 0x2A] + rest) == .wrong(CredentialsText.profile))
        for length in 0..<12 { _ = CredentialFile([UInt8](repeating: 0x30, count: length)) }
        for length in 0..<12 { _ = CredentialFile([0x30] + [UInt8](repeating: 0xFF, count: length)) }
        guard case .call(let call) = upload(pkcs12, others: [FormFields.Field("passphrase", .text("horse "))]) else {
            Issue.record("no call")
            return
        }
        // A passphrase is not trimmed.
        #expect(call.body?["passphrase"] == "horse ")
        #expect(call.body?["kind"] == "apns-certificate" && call.body?["pkcs12"]?.string?.hasPrefix("MIIB") == true)
    }

    // The preflight is asked before anything is replaced.
    @Test func aFileThatDoesNotFitTheAppsIsNotStored() {
        let fields = FormFields([
            FormFields.Field("credential", .text("apple")), FormFields.Field("teamId", .text("ABCDE12345")),
            FormFields.Field("file", .file(name: "AuthKey_KEY1234567.p8", bytes: Array(Self.p8.utf8))),
        ])
        let form = UploadCredentialForm()
        let request = OperationsStage.request()
        let check = form.calls(request, fields, Answers())
        #expect(check.map(\.path) == ["credentials/apple/check"] && check.map(\.method) == [.post])
        let unfit = OperationsStage.answers([
            "check": [
                "usable": false,
                "findings": [
                    ["text": "the credential does not serve the topic com.example.shop", "fatal": true],
                    ["text": "the certificate is not for production", "fatal": true],
                    ["text": "the key id is not ten capital letters and digits", "fatal": false],
                ],
            ]
        ])
        #expect(form.calls(request, fields, unfit).isEmpty)
        #expect(errors(form.submit(request, fields, unfit)) == ["file", "topics"])
        let forced = FormFields(fields.fields + [FormFields.Field("force", .text("on"))])
        guard case .call(let call) = form.submit(request, forced, unfit) else {
            Issue.record("not stored")
            return
        }
        #expect(call.method == .put)
        var refused = Answers()
        refused["check"] = OperationsStage.problem("passphrase: is wrong")
        #expect(errors(form.submit(request, forced, refused)) == ["passphrase"])
        // Nothing is asked about a file that the form itself refuses.
        let empty = FormFields([FormFields.Field("credential", .text("apple"))])
        #expect(form.calls(request, empty, Answers()).isEmpty)
    }

    // MARK: Two people

    /// The values of the upload form as the page has them, with those that a person types.
    private static func typed(_ shown: JSON?, key: String = "OTHER12345") throws -> FormFields {
        var answers = Answers()
        answers["credential"] = shown.map { OperationsStage.answer($0) }
        answers["credentials"] = OperationsStage.answer(["credentials": [], "next": .null])
        let page: any ConsolePage = shown == nil ? CredentialsPage() : CredentialPage()
        let content = try page.content(OperationsStage.request(path: ["credential": "apple"]), answers)
        let form = try #require(OperationsStage.all(FormView.self, in: content).first { $0.path.hasSuffix("upload") })
        let version = try #require(form.fields.first { $0.name == ShownVersion.field })
        #expect(version.kind.isHidden && !version.value.isEmpty)
        return FormFields([
            FormFields.Field(version.name, .text(version.value)), FormFields.Field("credential", .text("apple")),
            FormFields.Field("keyId", .text(key)), FormFields.Field("teamId", .text("ABCDE12345")),
            FormFields.Field("file", .file(name: "key.p8", bytes: Array(p8.utf8))),
        ])
    }

    private static func answers(_ stored: APIAnswer) -> Answers {
        Answers(["stored": stored, "check": OperationsStage.answer(["usable": true, "findings": []])])
    }

    @Test func aSecondPersonDoesNotReplaceWhatTheFirstHasStored() throws {
        let form = UploadCredentialForm()
        let request = OperationsStage.request(path: ["credential": "apple"])
        let fields = try Self.typed(OperationsSamples.credential)
        let calls = form.calls(request, fields, Answers())
        #expect(calls.map(\.path) == ["credentials/apple", "credentials/apple/check"])
        #expect(calls.map(\.method) == [.get, .post])
        // The answers of the service and the age of a certificate change by themselves.
        let aged = Self.credential(["refusal": "InvalidProviderToken", "usable": false, "daysToExpiry": 3, "uses": []])
        for same in [OperationsSamples.credential, aged] {
            guard case .call = form.submit(request, fields, Self.answers(OperationsStage.answer(same))) else {
                Issue.record("not stored: \(same)")
                continue
            }
        }
        let changes: [JSONObject] = [
            ["keyId": "FIRST12345"], ["topics": ["a.b"]], ["expiresAt": "2027-01-01T00:00:00.000Z"],
        ]
        for changed in changes {
            let stored = OperationsStage.answer(Self.credential(changed))
            #expect(errors(form.submit(request, fields, Self.answers(stored))) == [""], "\(changed)")
        }
        let unread = form.submit(request, fields, Self.answers(OperationsStage.problem("busy", status: 503)))
        #expect(errors(unread) == [""], "what cannot be compared is not replaced")
    }

    /// The second person sees both, and what was typed; sending it again is a decision.
    @Test(arguments: Language.allCases) func bothVersionsOfACredentialAreShown(_ language: Language) throws {
        let fields = try Self.typed(OperationsSamples.credential)
        let stored = Self.credential(["keyId": "FIRST12345"])
        var request = OperationsStage.request(language, path: ["credential": "apple"])
        request.typed = fields
        request.errors = FieldErrors(["": CredentialsText.changedMeanwhile(language)])
        let content = try CredentialPage().content(request, OperationsStage.answers(["credential": stored]))
        let lines = OperationsStage.all(DifferenceLine.self, in: content)
        #expect(lines.contains { $0.change == .removed && $0.text.hasSuffix("FIRST12345") })
        #expect(lines.contains { $0.change == .added && $0.text.hasSuffix("OTHER12345") })
        let html = String(
            decoding: try Renderer.bundled(isStrict: true).page(content, request, path: "credentials/apple"),
            as: UTF8.self
        )
        #expect(html.contains(CredentialsText.changedMeanwhile(language)) && html.contains(#"value="OTHER12345""#))
        // The form now has the version that was shown.
        let form = try #require(OperationsStage.all(FormView.self, in: content).first)
        let version = form.fields.first { $0.name == ShownVersion.field }?.value
        #expect(version == CredentialVersion.of(stored))
        // The control: without a change there is nothing to compare.
        let same = ["credential": OperationsSamples.credential]
        let plain = try CredentialPage().content(request, OperationsStage.answers(same))
        #expect(OperationsStage.all(DifferenceLine.self, in: plain).isEmpty)
    }

    @Test func aDeletedCredentialKeepsWhatWasTyped() throws {
        let fields = try Self.typed(OperationsSamples.credential)
        var request = OperationsStage.request(path: ["credential": "apple"])
        let gone = OperationsStage.problem("no such credential", status: 404)
        #expect(errors(UploadCredentialForm().submit(request, fields, Self.answers(gone))) == [""])
        #expect(throws: (any Error).self) { try CredentialPage().content(request, Answers(["credential": gone])) }
        request.typed = fields
        let content = try CredentialPage().content(request, Answers(["credential": gone]))
        #expect(content.sentence.text == CredentialsText.deletedMeanwhile.en)
        let form = try #require(OperationsStage.all(FormView.self, in: content).first)
        let again = form.fields.first { $0.name == ShownVersion.field }.map {
            FormFields.Field($0.name, .text($0.value))
        }
        let sent = FormFields(fields.fields.filter { $0.name != ShownVersion.field } + [try #require(again)])
        guard case .call = UploadCredentialForm().submit(request, sent, Self.answers(gone)) else {
            Issue.record("not stored anew")
            return
        }
    }

    @Test func thePageStatesWhenItWasRegistered() throws {
        func registered(_ credential: JSON, _ language: Language) throws -> String? {
            let request = OperationsStage.request(language, path: ["credential": "apple"])
            let content = try CredentialPage().content(request, OperationsStage.answers(["credential": credential]))
            let facts = OperationsStage.all(Fact.self, in: content)
            return facts.first { $0.label == CredentialsText.registered(language) }?.value
        }
        // A credential of an older version has no time.
        let unknown = Self.credential(["storedAt": .null])
        for language in Language.allCases {
            let text = try registered(OperationsSamples.credential, language)
            #expect(text == Wording(OperationsStage.request(language)).time("2026-09-01T00:00:00.000Z"))
            #expect(try registered(unknown, language) == Wording.unknown)
        }
    }

    /// The form of the list stores new credentials: a name that exists is refused next to its field.
    @Test func aNewCredentialReplacesNone() throws {
        let form = UploadCredentialForm()
        let fields = try Self.typed(nil)
        let taken = Self.answers(OperationsStage.answer(OperationsSamples.credential))
        #expect(errors(form.submit(OperationsStage.request(), fields, taken)) == ["credential"])
        let free = Self.answers(OperationsStage.problem("no such credential", status: 404))
        guard case .call = form.submit(OperationsStage.request(), fields, free) else {
            Issue.record("not stored")
            return
        }
    }

    @Test func aChangedCredentialIsNotDeleted() throws {
        let form = DeleteCredentialForm()
        let request = OperationsStage.request(path: ["credential": "apple"])
        let version = CredentialVersion.of(OperationsSamples.credential)
        let fields = OperationsStage.fields([ShownVersion.field: version, "confirmed": "yes"])
        #expect(form.calls(request, fields, Answers()).map(\.path) == ["credentials/apple"])
        let changed = OperationsStage.answers(["stored": Self.credential(["keyId": "FIRST12345"])])
        #expect(errors(form.submit(request, fields, changed)) == [""])
        let same = OperationsStage.answers(["stored": OperationsSamples.credential])
        guard case .call(let call) = form.submit(request, fields, same) else {
            Issue.record("not deleted")
            return
        }
        #expect(call.method == .delete)
    }

    // The API names its member; the form has one field for all kinds of files.
    @Test func aProblemOfTheAPIIsShownAtItsField() {
        func errors(_ detail: String) -> [String: String] {
            let answer = OperationsStage.problem(detail)
            let result = UploadCredentialForm().result(OperationsStage.request(.ko), FormFields([]), answer)
            if case .invalid(let errors) = result { return errors.errors }
            return [:]
        }
        #expect(
            errors("privateKey: the private key is not a P-256 key in PEM (.p8)") == [
                "file": "개인 키가 PEM 형식의 P-256 키(.p8)가 아닙니다."
            ]
        )
        #expect(errors("passphrase: is wrong").keys.sorted() == ["passphrase"])
        #expect(errors("topics: the certificate does not name a topic").keys.sorted() == ["topics"])
        #expect(errors("something else happened").keys.sorted() == [""])
    }
}
