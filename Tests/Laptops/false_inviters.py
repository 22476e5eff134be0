"""Inviters that are none: they listen as a laptop does, and speak enrolment with whoever comes. See newcomer.py."""

import os
import socket
import ssl
import threading

from newcomer import (
    EXPIRED,
    PATIENCE_SECONDS,
    PROOF_BYTES,
    Conversation,
    Identity,
    Newcomer,
    inviter_proof,
    refusal,
    terms,
)
from stranger import frame


class FalseInviter:
    """A context manager: shows a certificate of a key of its own, answers as `serve` does, one connection at a time."""

    def __init__(self):
        identity = Identity("laptop", "member")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context = identity.shown_by(context)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        # Set when the test is over: what then breaks is no finding.
        self._is_over = False
        self._thread = threading.Thread(target=self._listen)

    def serve(self, conversation):
        raise NotImplementedError

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over = True
        # Accepts that wait are not woken by a close.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE_SECONDS)
        self._listener.close()
        assert not self._thread.is_alive()

    def _listen(self):
        while not self._is_over:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE_SECONDS)
            try:
                with Conversation(self._context.wrap_socket(connection, server_side=True)) as conversation:
                    self.serve(conversation)
            except OSError:
                # Whoever has come has gone.
                connection.close()


class Collector(FalseInviter):
    """Gives somebody else's terms, takes the proof, and claims to know the code."""

    def __init__(self, root, name, role="member"):
        super().__init__()
        self.proofs = []
        self._terms = terms(root, role, name)

    def serve(self, conversation):
        conversation.next()
        conversation.say(self._terms)
        kind, proof = conversation.next()
        if kind is None:
            return
        self.proofs.append(proof)
        conversation.say(self.answer())
        # What comes after a proof that was believed would be waited for.
        conversation.next()

    def answer(self):
        return inviter_proof(os.urandom(PROOF_BYTES))


class Refuser(Collector):
    """The same, but says no."""

    def answer(self):
        return refusal(EXPIRED)


class Between(FalseInviter):
    """Passes on what the newcomer and the true inviter say to each other, with a key of its own towards each."""

    def __init__(self, inviter):
        super().__init__()
        self.asked, self.answered = [], []
        self._inviter = inviter

    def serve(self, conversation):
        with Newcomer().connect(self._inviter) as behind:
            while (said := conversation.payload()) is not None:
                behind.say(frame(said))
                answer = behind.payload()
                if answer is None:
                    break
                conversation.say(frame(answer))
            self.asked += conversation.kinds
            self.answered += behind.kinds
