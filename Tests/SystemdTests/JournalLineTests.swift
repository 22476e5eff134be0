import FoundationEssentials
import Testing

@testable import Systemd

@Suite("What journalctl prints", .timeLimit(.minutes(1)))
struct JournalLineTests {
    private func line(_ fields: String) -> JournalLine? {
        JournalLine(json: Data("{\"__REALTIME_TIMESTAMP\":\"1785580200125999\",\(fields)}".utf8))
    }

    @Test("A line of ours has its event and what it is about, by the names that were logged")
    func program() {
        let line = line(
            #""PRIORITY":"4","MESSAGE":"slow stepMilliseconds=7","MUSTER_EVENT":"slow","MUSTER_STEP_MILLISECONDS":"7","MUSTER_JOB":"J","_PID":"900""#
        )
        #expect(line?.at == 1_785_580_200_125 && line?.level == "warning" && line?.message == "slow stepMilliseconds=7")
        #expect(line?.writer == .program(event: "slow", details: ["stepMilliseconds": "7", "job": "J"]))
        for key in ["job", "stepMilliseconds", "address", "retryAfterSeconds"] {
            #expect(JournalLine.key(ofField: JournalLogHandler.fieldName(key)[...]) == key)
        }
    }

    @Test("systemd's own words are told from those of a program, which cannot pretend")
    func manager() {
        #expect(line(#""MESSAGE":"Main process exited","_PID":"1""#)?.writer == .manager)
        #expect(line(#""MESSAGE":"Fatal error","_PID":"900","PRIORITY":"3""#)?.writer == .other)
        #expect(line(#""MESSAGE":"Fatal error","PID":"1""#)?.writer == .other)
    }

    @Test("Values that are no text are left out, and what is no line is none")
    func odd() {
        let odd = line(#""MESSAGE":[1,2,3],"MUSTER_EVENT":"x","MUSTER_JOB":null,"MUSTER_ERROR":["a","b"]"#)
        #expect(odd?.message == "" && odd?.writer == .program(event: "x", details: [:]))
        for text in ["", "{}", "[]", "-- No entries --", #"{"__REALTIME_TIMESTAMP":"soon"}"#] {
            #expect(JournalLine(json: Data(text.utf8)) == nil)
        }
    }

    @Test(
        "A program's output is read to its end; one that is not there, fails, never ends or prints without end has a reason"
    )
    func output() throws {
        #expect(
            try ProgramOutput(of: ["sh", "-c", "printf abc; printf no >&2"], mostBytes: 10, seconds: 20).bytes
                == Array("abc".utf8))
        func fault(_ words: [String], mostBytes: Int = 1 << 20, seconds: Int = 20) -> String? {
            do throws(ProgramOutput.Fault) {
                _ = try ProgramOutput(of: words, mostBytes: mostBytes, seconds: seconds)
                return nil
            } catch { return error.description }
        }
        #expect(fault(["no-such-program-at-all"]) == "no-such-program-at-all is not installed here")
        #expect(fault(["sh", "-c", "exit 3"]) == "sh has failed")
        #expect(fault(["sleep", "600"], seconds: 1) == "sleep did not end in time")
        #expect(fault(["yes"], mostBytes: 1 << 16) == "yes prints too much")
    }
}
