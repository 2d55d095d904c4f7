"""One value asks all long work to stop: by Ctrl-C, by SIGTERM, from the page, from a thread."""

import os
import signal
import threading

import pytest

from silowork.stop import Stop


def test_work_sees_that_it_was_asked_and_waits_no_longer() -> None:
    stop = Stop()
    assert not stop.wait(0.001)
    assert not stop()
    threading.Timer(0.05, stop.ask).start()
    assert stop.wait(60)
    assert stop.asked
    assert stop()
    assert not stop.interrupted


@pytest.mark.parametrize(
    ("number", "interrupted"), [(signal.SIGINT, True), (signal.SIGTERM, False)]
)
def test_a_signal_asks_and_is_what_it_was_afterwards(number: int, interrupted: bool) -> None:
    before = signal.getsignal(number)
    with Stop().on_signals() as stop:
        os.kill(os.getpid(), number)
        assert stop.wait(60)
        os.kill(os.getpid(), number)
        assert stop.wait(0.1)
    assert stop.interrupted is interrupted
    assert signal.getsignal(number) is before


def test_a_second_ctrl_c_interrupts_at_once_where_that_is_wanted() -> None:
    with pytest.raises(KeyboardInterrupt), Stop().on_signals(second_interrupts=True) as stop:  # noqa: PT012 - it is the case
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
        stop.wait(60)
    assert stop.interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_does_not_end_a_wait_without_limit_is_handled_soon() -> None:
    def send() -> None:  # given to this thread, as if it came just before the wait began
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with Stop().on_signals() as stop:
        timer = threading.Timer(0.2, send)
        timer.start()
        assert stop.wait()
        timer.join()


def test_a_signal_interrupts_a_block_once_also_if_it_came_before() -> None:
    stop = Stop()
    stop.on_signal(signal.SIGTERM, None)
    with pytest.raises(KeyboardInterrupt), stop.interrupting():
        raise AssertionError("it was not interrupted")
    stop.on_signal(signal.SIGINT, None)
    stop = Stop()
    with pytest.raises(KeyboardInterrupt), stop.interrupting():
        stop.on_signal(signal.SIGTERM, None)
    stop.on_signal(signal.SIGTERM, None)
    assert stop.asked


def test_a_block_that_was_asked_from_elsewhere_goes_on_to_its_end() -> None:
    stop = Stop()
    with stop.interrupting():
        stop.ask()
    assert stop.asked


def test_in_another_thread_signals_stay_as_they_are() -> None:
    before = signal.getsignal(signal.SIGINT)
    found = []

    def use() -> None:
        with Stop().on_signals() as stop:
            found.append((stop.asked, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert found == [(False, before)]
